"""What a new password does, whoever sets it: its owner, the admin, or `manage.py changepassword`."""

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import MinimumLengthValidator

from coaching.programs.grants import revoke_all_grants
from coaching.programs.tokens import revoke_all


class NewPasswordValidator(MinimumLengthValidator):
    """Asks for a minimum length, and ends programs' access once the password is stored.

    Who sets one may suspect somebody else, who could have made a token. Django calls `password_changed` for
    each new password, but not when it stores a better hash of the old one.
    """

    def password_changed(self, _password: str, user: User) -> None:
        """Revoke the tokens and grants of the user, who has been saved."""
        revoke_all(user.pk)
        revoke_all_grants(user.pk)
