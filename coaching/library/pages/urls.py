"""URLs of the library's pages, below `library/`. Their names are a public contract."""

from django.urls import path

from coaching.library.pages import (
    clients,
    documents,
    files,
    knowledge,
    overview,
    projects,
    review,
    steps,
    thumbnails,
    upload,
    viewer,
)

urlpatterns = [
    path("", overview.library, name="library"),
    path("progress/", overview.progress, name="library_progress"),
    path("upload/", upload.upload, name="library_upload"),
    path("clients/<int:client_id>/", clients.client, name="library_client"),
    path("clients/<int:client_id>/delete/", clients.delete, name="library_client_delete"),
    path("projects/<int:project_id>/", projects.project, name="library_project"),
    path("projects/<int:project_id>/delete/", projects.delete, name="library_project_delete"),
    path("documents/<int:document_id>/", documents.document, name="library_document"),
    path("documents/<int:document_id>/file/", files.file, name="library_file"),
    path("documents/<int:document_id>/recording/", files.recording, name="library_recording"),
    path("documents/<int:document_id>/viewer/", viewer.viewer, name="library_viewer"),
    path("documents/<int:document_id>/pages/<int:number>.webp", viewer.page_image, name="library_page"),
    path("documents/<int:document_id>/small.webp", thumbnails.thumbnail, name="library_thumbnail"),
    path("review/", review.review, name="library_review"),
    path("knowledge/", knowledge.knowledge, name="library_knowledge"),
    path("knowledge/<int:entry_id>/", knowledge.entry, name="library_entry"),
    path("actions/", steps.steps, name="library_actions"),
    path("actions/<int:step_id>/", steps.step, name="library_action"),
    path("actions/<int:step_id>/undo/", steps.undo, name="library_action_undo"),
    path("effects/<int:effect_id>/undo/", files.undo_effect, name="library_undo"),
]
