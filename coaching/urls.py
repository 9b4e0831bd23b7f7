"""The pages' addresses: the public contract, so a name here changes only with the specification."""

from django.urls import path

from coaching.views import belongings, conversation, files, home, settings

urlpatterns = [
    path("", home.home, name="home"),
    path("chat/", conversation.sessions, name="sessions"),
    path("chat/new/", conversation.new_session, name="new_session"),
    path("chat/<uuid:session_id>/", conversation.session, name="session"),
    path("chat/<uuid:session_id>/message/", conversation.message, name="message"),
    path("files/", files.files, name="files"),
    path("files/<path:path>", files.file, name="file"),
    path("settings/", settings.settings, name="settings"),
    path("settings/export/", belongings.export, name="export"),
    path("settings/timezone/", settings.take_timezone, name="take_timezone"),
]
