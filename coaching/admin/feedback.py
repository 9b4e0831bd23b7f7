"""What people share of their feedback on answers: without their name, and words only with a permission."""

from datetime import date

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils.safestring import SafeString

from coaching.models import AnswerFeedback
from coaching.sandbox.markdown import render_replies
from coaching.transcript.turn_items import rounds_of_answer
from sessions_app.admin import ReadOnlyMixin, page_of_row, row_to_read, words_response
from sessions_app.models import MessageRole


@admin.register(AnswerFeedback)
class AnswerFeedbackAdmin(ReadOnlyMixin, admin.ModelAdmin):
    """Shared feedback, read-only. It is hidden at once where its person can no longer reach it."""

    list_display = ("day", "rating", "answered_by", "has_note", "is_answer_shared")
    list_filter = ("rating",)
    fields = list_display
    readonly_fields = fields
    change_form_template = "admin/coaching/answerfeedback/change_form.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[AnswerFeedback]:
        rows: QuerySet[AnswerFeedback] = super().get_queryset(request)
        there = rows.filter(turn__is_withdrawn=False, turn__session__deleted_at=None)
        return there.filter(is_shared=True).select_related("turn")

    @admin.display(description="Day (UTC)")
    def day(self, feedback: AnswerFeedback) -> date:
        """Return no time: together with the list of turns it would name the person."""
        return feedback.updated_at.date()

    @admin.display(description="Model", ordering="turn__model")
    def answered_by(self, feedback: AnswerFeedback) -> str:
        return feedback.turn.model

    @admin.display(description="Note", boolean=True)
    def has_note(self, feedback: AnswerFeedback) -> bool:
        return bool(feedback.note)

    def get_urls(self) -> list[URLPattern]:
        return [page_of_row(self, self.words, "words"), *super().get_urls()]

    def words(self, request: HttpRequest, row_id: int) -> HttpResponse:
        """Show the note, and the answer if that is shared, and log the look."""
        feedback = row_to_read(request, self, self.get_queryset(request), row_id)
        return words_response(
            request,
            self,
            "admin/coaching/answerfeedback/words.html",
            title=f"Feedback: {feedback.get_rating_display().lower()}",
            feedback=feedback,
            answer=_rendered(feedback) if feedback.is_answer_shared else [],
        )


def _rendered(feedback: AnswerFeedback) -> list[SafeString]:
    """Return the answer's text, without the files that an old one holds."""
    answer = feedback.turn.messages.filter(role=MessageRole.ASSISTANT).first()
    texts = [text for text, _ in rounds_of_answer(answer)]
    rendered = render_replies(texts)
    return [rendered[text] for text in texts]
