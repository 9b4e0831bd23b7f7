"""The pages' addresses: the public contract, so a name here changes only with the specification."""

from django.urls import path

from coaching.views import (
    belongings,
    calendar,
    captures,
    conversation,
    file_archive,
    file_edits,
    file_versions,
    files,
    home,
    life_map,
    prompts,
    settings,
)

urlpatterns = [
    path("", home.home, name="home"),
    path("plan/<str:day>/", home.plan, name="plan"),
    path("capture/", captures.captures, name="captures"),
    path("capture/all/", captures.all_captures, name="all_captures"),
    path("capture/<int:capture_id>/", captures.capture, name="capture"),
    path("reflections/<int:prompt_id>/", prompts.prompt, name="prompt"),
    path("map/", life_map.life_map, name="map"),
    path("chat/", conversation.sessions, name="sessions"),
    path("chat/new/", conversation.new_session, name="new_session"),
    path("chat/<uuid:session_id>/", conversation.session, name="session"),
    path("chat/<uuid:session_id>/message/", conversation.message, name="message"),
    path("files/", files.files, name="files"),
    # No file's own path ends with a slash, and none lies outside a folder.
    path("files/all.zip", file_archive.archive, name="file_archive"),
    path("files/<path:path>/edit/", file_edits.edit, name="file_edit"),
    path("files/<path:path>/preview/", file_edits.preview, name="file_preview"),
    path("files/<path:path>/versions/", file_versions.versions, name="file_versions"),
    path("files/<path:path>/difference/", file_versions.difference, name="file_difference"),
    path("files/<path:path>/restore/", file_versions.restore, name="file_restore"),
    path("files/<path:path>", files.file, name="file"),
    path("settings/", settings.settings, name="settings"),
    path("settings/delete/", belongings.delete_account, name="delete_account"),
    path("goodbye/", belongings.goodbye, name="goodbye"),
    path("settings/export/", belongings.export, name="export"),
    path("settings/timezone/", settings.take_timezone, name="take_timezone"),
    path("settings/calendar/", calendar.show_calendars, name="calendar"),
    path("settings/calendar/upload/", calendar.upload_calendar, name="upload_calendar"),
    path("settings/calendar/subscribe/", calendar.subscribe_calendar, name="subscribe_calendar"),
    path("settings/calendar/<int:source_id>/refresh/", calendar.refresh_calendar, name="refresh_calendar"),
    path("settings/calendar/<int:source_id>/remove/", calendar.remove_calendar, name="remove_calendar"),
]
