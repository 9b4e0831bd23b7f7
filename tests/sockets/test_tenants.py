"""The tenant matrix: another person's id is answered exactly like a missing one, on every route and frame.

Generated from the URL map and the frame types: one without a row fails the suite.

Over 300 lines, because half of them are the matrix, which is read and extended in one place.
"""

import asyncio
import io
import re
import uuid
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any, Literal

import pytest
import websockets
from allauth.idp.oidc.models import Client as OAuthClient
from allauth.idp.oidc.models import Token
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.db import connection
from django.http import HttpResponse, StreamingHttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone
from pytest_django import Settings

from coaching.api.routes import ROUTES as PROGRAM_ROUTES
from coaching.files.safety_plans import PLAN_PATH
from coaching.inbox.place import place_of
from coaching.models import (
    ActionItem,
    AnswerFeedback,
    CalendarSource,
    Capture,
    DayPlan,
    Document,
    FileType,
    Import,
    ImportState,
    KnowledgeEntry,
    LibraryEffect,
    Photo,
    ProgramToken,
    Project,
    PushDevice,
    Recording,
    ReflectionPrompt,
    UserFile,
    UserFileVersion,
)
from coaching.models import Client as LibraryClient
from coaching.practice.server import PracticeServer
from coaching.reminders.preferences import off_token
from coaching.sockets.consumers import HANDLERS, SessionConsumer
from sessions_app.database import in_database
from sessions_app.models import (
    Message,
    RunnerProcess,
    Session,
    SessionFolder,
    ToolCallRecord,
    ToolCallState,
    Turn,
    TurnStatus,
)
from tests.browsers import browser_of, confirmed_browser_of, sign_in_confirmed
from tests.calendar.conftest import NOW, source_of, timed
from tests.leaving import leave_url
from tests.live_sage import FRAME_SECONDS, LiveSage, open_socket, session_cookie
from tests.sockets.tenant_library import STEP_ID, fill_library, ids_of_library
from tests.stored_turns import open_conversation

pytestmark = pytest.mark.django_db(transaction=True)

SECRET = "a secret that only ada knows"
FILE_PATH = "life-map/career.md"
MISSING_PATH = "life-map/health.md"
CALENDAR_ID = 4_000_000
IMPORT_ID = 5_000_000
DEVICE_ID = 6_000_000
TOKEN_ID = 7_500_000
PLAN_DAY = "2026-11-21"


@dataclass(frozen=True, kw_only=True)
class Row:
    """How to request somebody's object by a route.

    `own`: the route names no object and only shows the requesting person's things. `public`: nobody's.
    `staff`: only for operators. `program`: for tokens (`tests/api/test_routes.py`); a sign-in opens nothing.
    `is_refused`: the row sends invalid data, and the page says so. A row's name is the route's; further words
    distinguish two requests of one route.
    """

    path: str
    missing: str = ""
    method: Literal["get", "post"] = "get"
    form: dict[str, str] = field(default_factory=dict)
    scope: Literal["object", "own", "public", "staff", "program"] = "object"
    is_refused: bool = False


MISSING_ID = str(uuid.UUID(int=7))
RECORDING_ID = str(uuid.UUID(int=9))
LEAVE_QUERY = leave_url("https://example.org/").removeprefix("/leave/")
OFF_TOKEN = off_token(user_id=1, kind="day")
OTHER_ANSWER = str(uuid.UUID(int=8))

ROUTES = {
    "home": Row(path="/", scope="own"),
    "manifest": Row(path="/manifest.webmanifest", scope="public"),
    "service_worker": Row(path="/service-worker.js", scope="public"),
    "offline": Row(path="/offline/", scope="public"),
    "plan": Row(
        path=f"/plan/{PLAN_DAY}/",
        missing="/plan/2026-11-22/",
        method="post",
        form={"text": SECRET, "done": "1"},
    ),
    "captures": Row(path="/capture/", scope="own"),
    "folded_captures": Row(path="/capture/folded/", scope="own"),
    "capture_look": Row(path="/capture/look/", scope="own"),
    "all_captures": Row(path="/capture/all/", method="post", form={"newest": "999999"}, scope="own"),
    "capture": Row(
        path="/capture/{capture}/", missing="/capture/999999/", method="post", form={"do": "put_away"}
    ),
    "prompt": Row(path="/reflections/{prompt}/", missing="/reflections/999999/"),
    "prompt by form": Row(
        path="/reflections/{prompt}/",
        missing="/reflections/999999/",
        method="post",
        form={"do": "put_away"},
    ),
    "journal": Row(path="/journal/?month=2026-11", scope="own"),
    "journal_day": Row(path=f"/journal/{PLAN_DAY}/", scope="own"),
    "journal_week": Row(path=f"/journal/week/{PLAN_DAY}/", scope="own"),
    "add_photos": Row(path="/journal/photos/", method="post", form={"day": PLAN_DAY}, scope="own"),
    "photo": Row(path="/journal/photos/{photo}/", missing="/journal/photos/999999/"),
    "photo by form": Row(
        path="/journal/photos/{photo}/",
        missing="/journal/photos/999999/",
        method="post",
        form={"description": "gone"},
    ),
    "photo_image": Row(
        path="/journal/photos/{photo}/photo.webp", missing="/journal/photos/999999/photo.webp"
    ),
    "photo_thumbnail": Row(
        path="/journal/photos/{photo}/small.webp", missing="/journal/photos/999999/small.webp"
    ),
    "delete_photo": Row(
        path="/journal/photos/{photo}/delete/", missing="/journal/photos/999999/delete/", method="post"
    ),
    "map": Row(path="/map/", scope="own"),
    "sessions": Row(path="/chat/", scope="own"),
    "new_session": Row(path="/chat/new/", method="post", form={"kind": "open_conversation"}, scope="own"),
    "session": Row(path="/chat/{session}/", missing=f"/chat/{MISSING_ID}/"),
    "answer": Row(
        path=f"/chat/{{session}}/answers/{OTHER_ANSWER}/",
        missing=f"/chat/{MISSING_ID}/answers/{OTHER_ANSWER}/",
    ),
    "answer by form": Row(
        path=f"/chat/{{session}}/answers/{OTHER_ANSWER}/",
        missing=f"/chat/{MISSING_ID}/answers/{OTHER_ANSWER}/",
        method="post",
    ),
    "feedback": Row(
        path="/chat/{session}/answers/{turn}/feedback/",
        missing=f"/chat/{MISSING_ID}/answers/{OTHER_ANSWER}/feedback/",
    ),
    "feedback by form": Row(
        path="/chat/{session}/answers/{turn}/feedback/",
        missing=f"/chat/{MISSING_ID}/answers/{OTHER_ANSWER}/feedback/",
        method="post",
        form={"do": "delete"},
    ),
    "message": Row(
        path="/chat/{session}/message/",
        missing=f"/chat/{MISSING_ID}/message/",
        method="post",
        form={"text": "hi"},
    ),
    "brief": Row(path="/chat/{session}/brief/", missing=f"/chat/{MISSING_ID}/brief/"),
    "brief by form": Row(
        path="/chat/{session}/brief/",
        missing=f"/chat/{MISSING_ID}/brief/",
        method="post",
        form={"do": "correct", "words": "It was Anna"},
    ),
    "brief undone by form": Row(
        path="/chat/{session}/brief/",
        missing=f"/chat/{MISSING_ID}/brief/",
        method="post",
        form={"do": "undo", "correction": "5"},
        is_refused=True,
    ),
    "message that ends": Row(
        path="/chat/{session}/message/",
        missing=f"/chat/{MISSING_ID}/message/",
        method="post",
        form={"do": "end"},
    ),
    "undo_write": Row(
        path="/chat/{session}/undo/",
        missing=f"/chat/{MISSING_ID}/undo/",
        method="post",
        form={"tool_use_id": "toolu_act"},
        is_refused=True,
    ),
    "sidebar": Row(path="/chat/sidebar/", scope="own"),
    "new_session_folder": Row(
        path="/chat/folders/", method="post", form={"name": ""}, scope="own", is_refused=True
    ),
    "session_folder": Row(path="/chat/folders/{folder}/", missing="/chat/folders/999999/"),
    "session_folder by form": Row(
        path="/chat/folders/{folder}/",
        missing="/chat/folders/999999/",
        method="post",
        form={"name": "mine now"},
    ),
    "session_folder deleted by form": Row(
        path="/chat/folders/{folder}/",
        missing="/chat/folders/999999/",
        method="post",
        form={"do": "delete"},
    ),
    "session_menu": Row(path="/chat/{session}/menu/", missing=f"/chat/{MISSING_ID}/menu/"),
    "move_session": Row(
        path="/chat/{session}/folder/",
        missing=f"/chat/{MISSING_ID}/folder/",
        method="post",
        form={"name": "mine now"},
    ),
    "export_session": Row(path="/chat/{session}/export.md", missing=f"/chat/{MISSING_ID}/export.md"),
    "print_session": Row(path="/chat/{session}/print/", missing=f"/chat/{MISSING_ID}/print/"),
    "rename_session": Row(
        path="/chat/{session}/title/",
        missing=f"/chat/{MISSING_ID}/title/",
        method="post",
        form={"title": "mine now"},
    ),
    "organise_session": Row(
        path="/chat/{session}/organise/",
        missing=f"/chat/{MISSING_ID}/organise/",
        method="post",
        form={"do": "delete"},
    ),
    "organise_session restored": Row(
        path="/chat/{session}/organise/",
        missing=f"/chat/{MISSING_ID}/organise/",
        method="post",
        form={"do": "restore"},
        is_refused=True,
    ),
    "organise_session with an unreadable form": Row(
        path="/chat/{session}/organise/",
        missing=f"/chat/{MISSING_ID}/organise/",
        method="post",
        form={"do": "x" * 100},
    ),
    "rename_session with an unreadable form": Row(
        path="/chat/{session}/title/",
        missing=f"/chat/{MISSING_ID}/title/",
        method="post",
        form={"title": "mine now", "then": "x" * 100},
    ),
    "files": Row(path="/files/", scope="own"),
    "file_archive": Row(path="/files/all.zip", scope="own"),
    "file": Row(path=f"/files/{FILE_PATH}", missing=f"/files/{MISSING_PATH}"),
    "file_edit": Row(path=f"/files/{FILE_PATH}/edit/", missing=f"/files/{MISSING_PATH}/edit/"),
    "file_edit by form": Row(
        path=f"/files/{FILE_PATH}/edit/",
        missing=f"/files/{MISSING_PATH}/edit/",
        method="post",
        form={"body": "mine now", "version": "1"},
    ),
    "file_preview": Row(
        path=f"/files/{FILE_PATH}/preview/",
        missing=f"/files/{MISSING_PATH}/preview/",
        method="post",
        form={"body": "x"},
    ),
    "file_versions": Row(path=f"/files/{FILE_PATH}/versions/", missing=f"/files/{MISSING_PATH}/versions/"),
    "file_difference": Row(
        path=f"/files/{FILE_PATH}/difference/", missing=f"/files/{MISSING_PATH}/difference/"
    ),
    "new_file": Row(path="/files/new/", scope="own"),
    "new_file by form": Row(
        path="/files/new/", method="post", form={"title": ""}, scope="own", is_refused=True
    ),
    "deleted_files": Row(path="/files/deleted/", scope="own"),
    "files to select": Row(path="/files/?select=1", scope="own"),
    # Another's ids in the form: `tests/pages/test_chosen_files.py`.
    "chosen_files": Row(path="/files/chosen/", method="post", form={"do": "delete"}, scope="own"),
    "restore_chosen_files": Row(path="/files/deleted/restore/", method="post", scope="own"),
    "file_archive of selected files": Row(
        path="/files/all.zip?file={file}", missing="/files/all.zip?file=999999"
    ),
    "restore_deleted_file": Row(
        path="/files/deleted/{deleted}/", missing="/files/deleted/999999/", method="post"
    ),
    "file_rename": Row(
        path=f"/files/{FILE_PATH}/rename/",
        missing=f"/files/{MISSING_PATH}/rename/",
        method="post",
        form={"title": "mine now"},
    ),
    "file_tick": Row(
        path=f"/files/{FILE_PATH}/tick/",
        missing=f"/files/{MISSING_PATH}/tick/",
        method="post",
        form={"version": "1", "box-0": "1"},
    ),
    "files found": Row(path="/files/?q=secret+ada", scope="own"),
    "file_restore": Row(
        path=f"/files/{FILE_PATH}/restore/",
        missing=f"/files/{MISSING_PATH}/restore/",
        method="post",
        form={"version": "1"},
    ),
    "file_delete": Row(
        path=f"/files/{FILE_PATH}/delete/", missing=f"/files/{MISSING_PATH}/delete/", method="post"
    ),
    "reminder": Row(path="/reminders/day/", scope="own"),
    "reminder_off": Row(path=f"/reminders/off/{OFF_TOKEN}/", scope="public"),
    "reminders": Row(path="/settings/reminders/", scope="own"),
    "reminders by form": Row(path="/settings/reminders/", method="post", scope="own", is_refused=True),
    "push_devices": Row(path="/settings/reminders/devices/", method="post", scope="own", is_refused=True),
    "forget_device": Row(
        path=f"/settings/reminders/devices/{DEVICE_ID}/forget/",
        missing="/settings/reminders/devices/7000000/forget/",
        method="post",
    ),
    "leave": Row(path=f"/leave/{LEAVE_QUERY}", scope="own"),
    "safety": Row(path="/safety/", scope="public"),
    "end_care": Row(path="/safety/questions/end/", method="post", scope="own"),
    "choose_help_country": Row(path="/safety/country/", method="post", form={"country": "NZ"}, scope="own"),
    "safety_plan": Row(path="/safety/plan/", scope="own"),
    "edit_safety_plan": Row(path="/safety/plan/edit/", scope="own"),
    "edit_safety_plan by form": Row(path="/safety/plan/edit/", method="post", scope="own", is_refused=True),
    "remove_safety_plan": Row(path="/safety/plan/remove/", missing="/safety/plan/remove/", method="post"),
    "file of the safety plan": Row(
        path=f"/files/{PLAN_PATH}?version=1", missing=f"/files/{PLAN_PATH}?version=1"
    ),
    "welcome": Row(path="/welcome/", scope="own"),
    "example": Row(path="/example/", scope="own"),
    "search": Row(path="/search/?q=secret+ada", scope="own"),
    "search in a conversation": Row(
        path="/search/?q=secret+ada&conversation={session}",
        missing=f"/search/?q=secret+ada&conversation={MISSING_ID}",
    ),
    "palette": Row(path="/palette/?q=secret+ada", scope="own"),
    "library": Row(path="/library/", scope="own"),
    "library_progress": Row(path="/library/progress/", scope="own"),
    "library_progress of a client": Row(
        path="/library/progress/?client={client}", missing="/library/progress/?client=999999"
    ),
    "library_progress of a project": Row(
        path="/library/progress/?project={project}", missing="/library/progress/?project=999999"
    ),
    "library_upload": Row(path="/library/upload/", method="post", scope="own"),
    "library_client": Row(path="/library/clients/{client}/", missing="/library/clients/999999/"),
    "library_client by form": Row(
        path="/library/clients/{client}/",
        missing="/library/clients/999999/",
        method="post",
        form={"do": "archive"},
    ),
    "library_client_delete": Row(
        path="/library/clients/{client}/delete/", missing="/library/clients/999999/delete/"
    ),
    "library_project": Row(path="/library/projects/{project}/", missing="/library/projects/999999/"),
    "library_project by form": Row(
        path="/library/projects/{project}/",
        missing="/library/projects/999999/",
        method="post",
        form={"do": "archive"},
    ),
    "library_project_delete": Row(
        path="/library/projects/{project}/delete/", missing="/library/projects/999999/delete/"
    ),
    "library_document": Row(path="/library/documents/{document}/", missing="/library/documents/999999/"),
    "library_viewer": Row(
        path="/library/documents/{document}/viewer/", missing="/library/documents/999999/viewer/"
    ),
    "library_page": Row(
        path="/library/documents/{document}/pages/1.webp", missing="/library/documents/999999/pages/1.webp"
    ),
    "library_recording": Row(
        path="/library/documents/{document}/recording/", missing="/library/documents/999999/recording/"
    ),
    "library_thumbnail": Row(
        path="/library/documents/{document}/small.webp", missing="/library/documents/999999/small.webp"
    ),
    "library_document by form": Row(
        path="/library/documents/{document}/",
        missing="/library/documents/999999/",
        method="post",
        form={"do": "withhold"},
    ),
    "library_file": Row(
        path="/library/documents/{document}/file/", missing="/library/documents/999999/file/"
    ),
    "library_review": Row(path="/library/review/", scope="own"),
    "library_knowledge": Row(path="/library/knowledge/?q=secret", scope="own"),
    "library_entry": Row(path="/library/knowledge/{entry}/", missing="/library/knowledge/999999/"),
    "library_entry by form": Row(
        path="/library/knowledge/{entry}/",
        missing="/library/knowledge/999999/",
        method="post",
        form={"do": "dismiss"},
        is_refused=True,  # it was accepted
    ),
    "library_actions": Row(path="/library/actions/", scope="own"),
    "library_action": Row(path="/library/actions/{action}/", missing="/library/actions/999999/"),
    "library_action by form": Row(
        path="/library/actions/{action}/",
        missing="/library/actions/999999/",
        method="post",
        form={"do": "dismiss"},
        is_refused=True,  # it was accepted
    ),
    "library_action_undo": Row(
        path="/library/actions/{action}/undo/", missing="/library/actions/999999/undo/", method="post"
    ),
    "library_undo": Row(
        path="/library/effects/{effect}/undo/", missing="/library/effects/999999/undo/", method="post"
    ),
    "delete_account": Row(path="/settings/delete/", scope="own"),
    "goodbye": Row(path="/goodbye/", scope="public"),
    "export": Row(path="/settings/export/", method="post", scope="own"),
    "download_begins": Row(path="/settings/export/begin/", scope="own"),
    "settings": Row(path="/settings/", scope="own"),
    "sign_in_settings": Row(path="/settings/sign-in/", scope="own"),
    "usage": Row(path="/settings/usage/", scope="own"),
    "model": Row(path="/settings/model/", scope="own"),
    "data": Row(path="/settings/data/", scope="own"),
    "choose_device_copy": Row(path="/settings/device-copy/", method="post", form={"do": "keep"}, scope="own"),
    "device_copy": Row(path="/offline/copy/", scope="own"),
    "about": Row(path="/settings/about/", scope="own"),
    "recordings": Row(path="/voice/recordings/", method="post", scope="own", is_refused=True),
    "recording": Row(path=f"/voice/recordings/{RECORDING_ID}/", missing=f"/voice/recordings/{MISSING_ID}/"),
    "recording by form": Row(
        path=f"/voice/recordings/{RECORDING_ID}/",
        missing=f"/voice/recordings/{MISSING_ID}/",
        method="post",
    ),
    "choose_hearer": Row(path="/voice/hearer/", method="post", scope="own"),
    "take_timezone": Row(
        path="/settings/timezone/", method="post", form={"timezone": "Asia/Tokyo"}, scope="own"
    ),
    "inbox": Row(path="/settings/library/", scope="own"),
    "renew_inbox": Row(path="/settings/library/renew/", method="post", scope="own"),
    "letters": Row(path="/settings/letters/", method="post", form={"wanted": "0"}, scope="own"),
    "imports": Row(path="/settings/import/", scope="own"),
    "imports by form": Row(path="/settings/import/", method="post", scope="own", is_refused=True),
    "cancel_import": Row(
        path=f"/settings/import/{IMPORT_ID}/cancel/",
        missing="/settings/import/7000000/cancel/",
        method="post",
    ),
    "undo_import": Row(
        path=f"/settings/import/{IMPORT_ID}/undo/", missing="/settings/import/7000000/undo/", method="post"
    ),
    "import_about": Row(
        path=f"/settings/import/{IMPORT_ID}/about/",
        missing="/settings/import/7000000/about/",
        method="post",
        form={"answer": "dismiss"},
        is_refused=True,  # it proposes nothing
    ),
    "import_briefs": Row(
        path=f"/settings/import/{IMPORT_ID}/briefs/",
        missing="/settings/import/7000000/briefs/",
        method="post",
    ),
    "import_documents": Row(
        path=f"/settings/import/{IMPORT_ID}/documents/",
        missing="/settings/import/7000000/documents/",
        method="post",
    ),
    "calendar": Row(path="/settings/calendar/", scope="own"),
    "upload_calendar": Row(path="/settings/calendar/upload/", method="post", scope="own", is_refused=True),
    "subscribe_calendar": Row(
        path="/settings/calendar/subscribe/", method="post", scope="own", is_refused=True
    ),
    "refresh_calendar": Row(
        path=f"/settings/calendar/{CALENDAR_ID}/refresh/",
        missing="/settings/calendar/7000000/refresh/",
        method="post",
    ),
    "remove_calendar": Row(
        path=f"/settings/calendar/{CALENDAR_ID}/remove/",
        missing="/settings/calendar/7000000/remove/",
        method="post",
    ),
    "programs": Row(path="/settings/programs/", scope="own"),
    "programs by form": Row(path="/settings/programs/", method="post", scope="own", is_refused=True),
    "revoke_program": Row(
        path=f"/settings/programs/{TOKEN_ID}/revoke/",
        missing="/settings/programs/7000000/revoke/",
        method="post",
    ),
    "disconnect_program": Row(
        path="/settings/programs/connected/connected/",
        missing="/settings/programs/connected/another/",
        method="post",
    ),
    "mcp": Row(path="/mcp", method="post", scope="program"),
    "protected_resource": Row(path="/.well-known/oauth-protected-resource", scope="public"),
    "protected_mcp": Row(path="/.well-known/oauth-protected-resource/mcp", scope="public"),
    "oauth_server": Row(path="/.well-known/oauth-authorization-server", scope="public"),
    "oauth_authorize": Row(path="/oauth/authorize", scope="public"),
    "oauth_register": Row(path="/oauth/register", method="post", scope="public"),
    "oauth_token": Row(path="/oauth/token", method="post", scope="public"),
    "oauth_revoke": Row(path="/oauth/revoke", method="post", scope="public"),
    "share": Row(path="/share/", scope="own"),
    "share by form": Row(path="/share/", method="post", form={"text": "hi"}, scope="own"),
    "keep_shared": Row(path="/share/keep/", method="post", form={"text": ""}, scope="own", is_refused=True),
    "api_docs": Row(path="/api/docs", scope="public"),
    "api_schema": Row(path="/api/openapi.json", scope="public"),
    **{route.run.__name__: Row(path="/api/steps", scope="program") for route in PROGRAM_ROUTES},
    "healthz": Row(path="/healthz", scope="public"),
    "readyz": Row(path="/readyz", scope="public"),
    "metrics": Row(path="/metrics", scope="staff"),
}
FRAMES: dict[str, dict[str, Any]] = {
    "message": {"type": "message", "text": "hi"},
    "edit": {"type": "edit", "text": "hi"},
    "answer": {"type": "answer", "toolUseId": "toolu_1", "value": "yes"},
    "dismiss": {"type": "dismiss", "toolUseId": "toolu_1"},
    "step": {"type": "step", "id": STEP_ID, "action": "done"},
    "stop": {"type": "stop"},
    "retry": {"type": "retry"},
    "again": {"type": "again"},
    "choose": {"type": "choose", "turn": OTHER_ANSWER},
    "continue": {"type": "continue"},
    "end": {"type": "end"},
}


@pytest.fixture
def owned(user: User, settings: Settings) -> Session:
    """A session, a file and a calendar of the person, all containing the secret. Mail comes in."""
    settings.SAGE_INBOX = place_of("imaps://sage%40in.example:password@mail.example/")
    session = open_conversation(user)
    session.title = SECRET
    session.folder = SessionFolder.of(user.pk).create(name=SECRET)
    session.last_message_number = 1
    session.save()
    # A finished turn: a running one would be taken over and answered.
    turn = Turn.unscoped.create(session=session, status=TurnStatus.COMPLETED, ended_at=timezone.now())
    Message.unscoped.create(session=session, turn=turn, number=1, role="user", content=SECRET)
    file = UserFile.unscoped.create(user=user, path=FILE_PATH, file_type=FileType.DOMAIN, version_number=1)
    UserFileVersion.unscoped.create(
        file=file, number=1, content=SECRET, size=1, sha256="", storage_key="key", source="tool"
    )
    calendar = source_of(user, SECRET, id=CALENDAR_ID, kind="feed", origin="https://calendar.example/x")
    now = timezone.now()
    timed(calendar, SECRET, now.isoformat(), (now + timedelta(days=2)).isoformat())
    ProgramToken.of(user.pk).create(
        id=TOKEN_ID, name=SECRET, scopes=["read"], expires_at=timezone.now() + timedelta(days=9)
    )
    connected = OAuthClient.objects.create(id="connected", name=SECRET, secret="!")
    Token.objects.create(
        client=connected, user=user, type="rt", expires_at=timezone.now() + timedelta(days=9)
    )
    PushDevice.unscoped.create(id=DEVICE_ID, user=user, endpoint="https://push.example/x", name=SECRET)
    Import.unscoped.create(id=IMPORT_ID, user=user, file_name=SECRET, state=ImportState.FINISHED)
    captured = UserFile.unscoped.create(
        user=user, path="captures/2026-11-21-100000.md", file_type=FileType.CAPTURE, version_number=1
    )
    UserFileVersion.unscoped.create(
        file=captured, number=1, content=SECRET, size=1, sha256="", storage_key="key 2", source="user"
    )
    Capture.unscoped.create(user=user, file=captured, captured_at=timezone.now())
    plan = UserFile.unscoped.create(
        user=user, path=PLAN_PATH, file_type=FileType.SAFETY_PLAN, version_number=1
    )
    UserFileVersion.unscoped.create(
        file=plan, number=1, content=SECRET, size=1, sha256="", storage_key="key 3", source="user"
    )
    UserFile.unscoped.create(
        user=user,
        path="notes/2026-11-21-gone.md",
        title=SECRET,
        file_type=FileType.NOTE,
        version_number=1,
        deleted_at=timezone.now(),
    )
    asked = UserFile.unscoped.create(
        user=user, path="reflections/2026-11-21-rest.md", file_type=FileType.REFLECTION_PROMPT
    )
    ReflectionPrompt.unscoped.create(user=user, file=asked, text=SECRET)
    DayPlan.unscoped.create(
        user=user, date=PLAN_DAY, intention=SECRET, priorities=[{"text": SECRET, "is_done": False}]
    )
    Photo.unscoped.create(
        user=user,
        day=PLAN_DAY,
        description=SECRET,
        source_sha256="",
        storage_key="key 4",
        sha256="",
        size=1,
        width=1,
        height=1,
        thumbnail=SECRET.encode(),
    )
    Recording.unscoped.create(
        user=user, client_id=RECORDING_ID, state="done", seconds=1, sha256="", size=1, text=SECRET
    )
    fill_library(user, SECRET)
    return session


def ids_of(owned: Session) -> Mapping[str, object]:
    """Return the ids of the person's objects, which the routes' paths name."""
    return {
        "session": owned.id,
        "folder": owned.folder_id,
        "turn": owned.turns.values_list("pk", flat=True).last(),
        "capture": Capture.unscoped.get(user_id=owned.user_id).pk,
        "photo": Photo.unscoped.get(user_id=owned.user_id).pk,
        "prompt": ReflectionPrompt.unscoped.get(user_id=owned.user_id).pk,
        "file": UserFile.of(owned.user_id).get(path=FILE_PATH).pk,
        "deleted": UserFile.deleted_of(owned.user_id).get().pk,
        **ids_of_library(owned.user_id),
    }


def all_routes() -> Iterator[str]:
    """Walk the URL map: the name of every route except the admin's (staff only) and allauth's own forms."""

    def walk(patterns: list[URLPattern | URLResolver]) -> Iterator[str]:
        for pattern in patterns:
            if isinstance(pattern, URLPattern):
                if not pattern.callback.__module__.startswith("allauth."):
                    yield str(pattern.name)
            elif pattern.namespace != "admin":
                yield from walk(pattern.url_patterns)

    yield from walk(get_resolver().url_patterns)


def ask(client: Client, row: Row, path: str) -> HttpResponse:
    response: object = client.post(path, row.form) if row.method == "post" else client.get(path)
    if isinstance(response, StreamingHttpResponse):
        return HttpResponse(async_to_sync(unpacked)(response), status=response.status_code)
    assert isinstance(response, HttpResponse)
    return response


async def unpacked(response: StreamingHttpResponse) -> bytes:
    """Return all content of a streamed archive."""
    data = b"".join([piece async for piece in response])
    response.close()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return b"\n".join(archive.read(name) for name in archive.namelist())


def assert_untouched(owned: Session) -> None:
    """The person's session is active, capture and question still wait, nothing of their plan is ticked."""
    session = Session.unscoped.get(id=owned.id)
    assert (session.status, session.title, session.folder_id) == ("active", SECRET, owned.folder_id)
    assert SessionFolder.unscoped.get().name == SECRET
    assert ReflectionPrompt.unscoped.get().put_away_at is None
    assert Import.unscoped.get().state == ImportState.FINISHED
    assert Token.objects.filter(user_id=owned.user_id).count() == 1
    assert PushDevice.of(owned.user_id).count() == ProgramToken.of(owned.user_id).count() == 1
    assert UserFile.deleted_of(owned.user_id).get().title == SECRET
    assert Photo.of(owned.user_id).get().description == SECRET
    assert Recording.of(owned.user_id).get().text == SECRET
    assert not UserFile.of(owned.user_id).exclude(title="").exists()
    assert UserFile.of(owned.user_id).get(path=PLAN_PATH).version_number == 1
    assert Capture.of(owned.user_id).waiting().count() == Capture.unscoped.count() == 1
    assert not any(priority["is_done"] for priority in DayPlan.unscoped.get().priorities)
    ids = ids_of_library(owned.user_id)
    assert LibraryClient.of(owned.user_id).get(pk=ids["client"]).status == "active"
    assert Project.of(owned.user_id).get().status == "active"
    assert not Document.of(owned.user_id).get().is_withheld
    assert KnowledgeEntry.of(owned.user_id).get().state == "accepted"
    assert ActionItem.of(owned.user_id).get().state == "open"
    assert LibraryEffect.of(owned.user_id).get().undone_at is None


CHECKED = (
    ActionItem, AnswerFeedback, CalendarSource, Capture, DayPlan, Document, Import, KnowledgeEntry,
    LibraryClient, LibraryEffect, Message, Photo, ProgramToken, Project, PushDevice, ReflectionPrompt,
    Session, SessionFolder, UserFile, UserFileVersion,
)  # fmt: skip
"""The models of the rows that may not change."""


class Unwritten:
    """Checks a person's rows again whenever a row was written: reading all takes as long as a page."""

    def __init__(self, check: Callable[[], None]) -> None:
        self._check = check
        check()
        self._versions = self._read()

    def check(self) -> None:
        versions = self._read()
        if versions != self._versions:
            self._check()
            self._versions = versions

    def _read(self) -> object:
        """Return how many rows there are, and of which transactions."""
        each = [f"SELECT count(*), sum(xmin::text::bigint) FROM {model._meta.db_table}" for model in CHECKED]
        with connection.cursor() as cursor:
            cursor.execute(" UNION ALL ".join(each))
            return cursor.fetchall()


def comparable(response: HttpResponse) -> tuple[int, str]:
    """Return a response without what differs between requests."""
    text = response.content.decode(errors="replace")
    text = re.sub(r'name="csrfmiddlewaretoken" value="[^"]*"', "", text)
    return response.status_code, re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID", text)


def test_every_route_of_the_url_map_has_a_row() -> None:
    assert set(all_routes()) == {name.partition(" ")[0] for name in ROUTES}


def test_every_frame_type_has_a_row() -> None:
    assert set(HANDLERS) == set(FRAMES)


# The tests of routes request one row after another: a request that is refused changes nothing, which is
# checked after each, and making all those rows takes longer than requesting a page.


def rows_of(*scopes: str) -> dict[str, Row]:
    return {name: row for name, row in ROUTES.items() if row.scope in scopes}


@pytest.mark.slow
def test_anothers_object_is_answered_like_a_missing_one(
    owned: Session, other_user: User, subtests: pytest.Subtests
) -> None:
    theirs = browser_of(other_user)
    ids = ids_of(owned)
    answer_twice(owned, owned.turns.get())

    def assert_unwritten() -> None:
        assert Message.unscoped.count() == 3
        assert AnswerFeedback.unscoped.get().note == SECRET
        assert UserFileVersion.unscoped.count() == 3
        assert CalendarSource.unscoped.get().tried_at == NOW
        assert_untouched(owned)

    unwritten = Unwritten(assert_unwritten)
    for name, row in rows_of("object").items():
        with subtests.test(name):
            foreign = ask(theirs, row, row.path.format(**ids))
            missing = ask(theirs, row, row.missing)
            assert foreign.status_code == 404
            assert comparable(foreign) == comparable(missing)
            unwritten.check()


@pytest.mark.slow
def test_nobody_signed_in_is_sent_to_the_sign_in_page(owned: Session, subtests: pytest.Subtests) -> None:
    ids = ids_of(owned)

    def assert_unwritten() -> None:
        assert Session.unscoped.count() == 1
        assert Message.unscoped.count() == 1
        assert UserFileVersion.unscoped.count() == 3
        assert_untouched(owned)

    unwritten = Unwritten(assert_unwritten)
    for name, row in rows_of("object", "own").items():
        with subtests.test(name):
            response = ask(Client(), row, row.path.format(**ids))
            assert SECRET not in response.content.decode()
            assert response.status_code == 302
            assert response["Location"].startswith("/accounts/login/")
            unwritten.check()


def test_an_operators_page_is_refused_to_everybody_else(owned: Session, subtests: pytest.Subtests) -> None:
    theirs = browser_of(owned.user)
    for name, row in rows_of("staff").items():
        for client in (Client(), theirs):
            with subtests.test(name):
                assert ask(client, row, row.path).status_code == 403


@pytest.mark.slow
def test_a_page_of_ones_own_shows_nothing_of_another(
    owned: Session, other_user: User, subtests: pytest.Subtests
) -> None:
    theirs = confirmed_browser_of(other_user)
    unwritten = Unwritten(partial(assert_untouched, owned))
    for name, row in rows_of("own").items():
        with subtests.test(name):
            response = ask(theirs, row, row.path)
            assert (response.status_code == 422) if row.is_refused else (response.status_code < 400)
            assert SECRET not in response.content.decode()
            assert str(owned.id) not in response.content.decode()
            unwritten.check()


SHOWN_TO_THE_OWNER = (
    ("session", SECRET),
    ("sessions", SECRET),
    ("session_folder", SECRET),
    ("session_menu", SECRET),
    ("print_session", SECRET),
    ("safety_plan", SECRET),
    ("edit_safety_plan", SECRET),
    ("file of the safety plan", SECRET),
    ("file", SECRET),
    ("file_edit", SECRET),
    ("file_versions", f'<a href="/files/{FILE_PATH}">Version 1</a>'),
    ("files", f'href="/files/{FILE_PATH}"'),
    ("file_archive", SECRET),
    ("files found", "<mark>secret</mark>"),
    ("deleted_files", SECRET),
    ("export", SECRET),
    ("imports", SECRET),
    ("calendar", SECRET),
    ("inbox", SECRET),
    ("reminders", SECRET),
    ("captures", SECRET),
    ("home", SECRET),
    ("journal", f'href="/journal/{PLAN_DAY}/"'),
    ("journal_day", SECRET),
    ("journal_week", SECRET),
    ("photo", SECRET),
    ("photo_thumbnail", SECRET),
    ("recording", SECRET),
    ("prompt", SECRET),
    ("search", "<mark>secret</mark>"),
    ("library", SECRET),
    ("library_client", SECRET),
    ("library_project", SECRET),
    ("library_document", SECRET),
    ("library_review", SECRET),
    ("library_knowledge", SECRET),
    ("library_entry", SECRET),
    ("library_actions", SECRET),
    ("library_action", SECRET),
    ("library_progress", SECRET),
    ("library_thumbnail", SECRET),
    ("answer", SECRET),
    ("feedback", SECRET),
)


@pytest.mark.slow
def test_the_owner_sees_what_another_does_not(
    owned: Session, user: User, other_user: User, subtests: pytest.Subtests
) -> None:
    """That another person doesn't see a text only counts if the owner sees it."""
    clients = {user: Client(), other_user: Client()}
    for person, client in clients.items():
        sign_in_confirmed(client, person)
    ids = ids_of(owned)
    for name, shows in SHOWN_TO_THE_OWNER:
        row = ROUTES[name]
        if name == "answer":
            answer_twice(owned, owned.turns.get())
        with subtests.test(name):
            seen_by = {
                person: ask(client, row, row.path.format(**ids)).content.decode()
                for person, client in clients.items()
            }
            assert shows in seen_by[user]
            assert shows not in seen_by[other_user]


@pytest.fixture
def waiting_for(frame_type: str, owned: Session) -> Iterator[Session]:
    """A session of the person in which a frame of that type has an effect."""
    turn = owned.turns.get()
    if frame_type in ("answer", "dismiss"):
        Turn.unscoped.filter(id=turn.id).update(status=TurnStatus.AWAITING_USER, ended_at=None)
        options = [{"label": "yes"}, {"label": "no"}]
        call = {"name": "show_options", "input": {"options": options}, "state": ToolCallState.PENDING}
        turn.calls.create(tool_use_id="toolu_1", round_number=1, position=0, **call)
    elif frame_type == "stop":
        # Its process seems alive, so nobody takes the turn over.
        RunnerProcess.objects.create(owner="somebody", beat=1)
        Turn.unscoped.filter(id=turn.id).update(status=TurnStatus.RUNNING, ended_at=None, owner="somebody")
    elif frame_type == "retry":
        Turn.unscoped.filter(id=turn.id).update(status=TurnStatus.FAILED)
    elif frame_type == "choose":
        answer_twice(owned, turn)
    elif frame_type == "continue":
        Turn.unscoped.filter(id=turn.id).update(stop_reason="max_tokens")
    yield owned
    # Otherwise it would run until its process counts as dead.
    Turn.unscoped.filter(owner="somebody").update(status=TurnStatus.STOPPED, ended_at=timezone.now())


def answer_twice(session: Session, turn: Turn) -> None:
    """Give the session's only message two answers; the turn has the one that is chosen, with feedback."""
    other = Turn.unscoped.create(
        id=OTHER_ANSWER,
        session=session,
        status=TurnStatus.COMPLETED,
        ended_at=timezone.now(),
        is_withdrawn=True,
    )
    Turn.unscoped.filter(session=session).update(message_number=1)
    for number, of in ((2, other), (3, turn)):
        Message.unscoped.create(session=session, turn=of, number=number, role="assistant", content=SECRET)
    Session.unscoped.filter(id=session.id).update(last_message_number=3)
    AnswerFeedback.unscoped.create(turn=turn, rating="up", note=SECRET)


def all_rows() -> list[object]:
    rows: list[object] = []
    for model in (Session, Turn, Message, ToolCallRecord, ActionItem):
        rows += model.unscoped.order_by("pk").values()
    return rows


@pytest.mark.parametrize("frame_type", FRAMES)
async def test_a_frame_for_anothers_session_is_refused_like_one_for_a_missing_one(
    waiting_for: Session, other_user: User, frame_type: str
) -> None:
    # Beyond the socket, which neither of the two can open: each handler checks access itself.
    _, _, key = (await in_database(session_cookie, other_user)).partition("=")
    before = await in_database(all_rows)
    for session_id in (waiting_for.id, uuid.UUID(MISSING_ID)):
        consumer = SessionConsumer()
        consumer.scope = {"session": SessionStore(key)}
        consumer.user_id, consumer.session_id = other_user.pk, session_id
        with pytest.raises(Session.DoesNotExist):
            await HANDLERS[frame_type](consumer, FRAMES[frame_type])
    assert await in_database(all_rows) == before


@pytest.mark.parametrize("frame_type", FRAMES)
async def test_the_owners_own_frame_does_something(
    live_sage: LiveSage, practice: PracticeServer, waiting_for: Session, user: User, frame_type: str
) -> None:
    cookie = await in_database(session_cookie, user)
    before = await in_database(all_rows)
    async with open_socket(live_sage, waiting_for.id, cookie) as client:
        await client.next_frame()
        await client.send(**FRAMES[frame_type])
        async with asyncio.timeout(FRAME_SECONDS):
            while await in_database(all_rows) == before:  # noqa: ASYNC110 - another process writes
                await asyncio.sleep(0.02)
        if frame_type in ("choose", "step"):
            await client.until({"choose": "chosen"}.get(frame_type, frame_type))
        elif frame_type not in ("stop", "dismiss", "end"):
            await client.until("done")


@pytest.mark.parametrize("name", ["foreign", "missing"])
async def test_a_socket_of_anothers_session_is_closed_before_it_is_heard(
    live_sage: LiveSage, owned: Session, other_user: User, name: str
) -> None:
    cookie = await in_database(session_cookie, other_user)
    async with open_socket(live_sage, owned.id if name == "foreign" else MISSING_ID, cookie) as client:
        with suppress(websockets.ConnectionClosed):  # it may be closed already
            await client.send(**FRAMES["message"])
        assert (await client.closed_with(), client.frames) == (4404, [])
    assert await in_database(Message.unscoped.count) == 1


@pytest.mark.parametrize("frame_type", FRAMES)
async def test_a_frame_after_the_session_changed_hands_reaches_nothing(
    live_sage: LiveSage, waiting_for: Session, user: User, other_user: User, frame_type: str
) -> None:
    cookie = await in_database(session_cookie, user)
    async with open_socket(live_sage, waiting_for.id, cookie) as client:
        await client.next_frame()
        await in_database(Session.unscoped.filter(id=waiting_for.id).update, user=other_user, folder=None)
        before = await in_database(all_rows)
        await client.send(**FRAMES[frame_type])
        assert await client.closed_with() == 4404
    assert await in_database(all_rows) == before
