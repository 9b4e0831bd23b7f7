"""Marks words of the shipped help lines for translation, since their file isn't read by `makemessages`."""

from django.utils.translation import gettext_noop as _

MARKED_COUNTRIES = (
    _("Argentina"), _("Australia"), _("Austria"), _("Belgium"), _("Brazil"), _("Canada"), _("Chile"),
    _("China"), _("Colombia"), _("Czechia"), _("Denmark"), _("Finland"), _("France"), _("Germany"),
    _("Greece"), _("Hong Kong"), _("Hungary"), _("Iceland"), _("India"), _("Ireland"), _("Israel"),
    _("Italy"), _("Japan"), _("Kenya"), _("Latvia"), _("Malaysia"), _("Mexico"), _("Netherlands"),
    _("New Zealand"), _("Norway"), _("Peru"), _("Philippines"), _("Poland"), _("Portugal"), _("Romania"),
    _("Russia"), _("Singapore"), _("Slovenia"), _("South Africa"), _("South Korea"), _("Spain"),
    _("Sweden"), _("Switzerland"), _("Taiwan"), _("Türkiye"), _("Ukraine"), _("United Kingdom"),
    _("United States"),
)  # fmt: skip
MARKED_NAMES = (
    _("Ambulance"), _("Australia"), _("Emergency services"),
    _("Most of Europe, and most mobile phones in the world"), _("North America"), _("Police"),
    _("Police and emergency services"), _("United Kingdom"),
)  # fmt: skip
"""The names that are English everywhere: of emergency services, and of regions with their numbers."""
MARKED_NOTES = (
    _("after sexual assault"), _("ages 5 to 25"), _("ambulance"),
    _("for Aboriginal and Torres Strait Islander people"), _("for children, the young and parents"),
    _("for the young"), _("for women"), _("mental health"), _("under 19"),
)  # fmt: skip
MARKED_TEXTS = (
    _("Advice centres in every canton"), _("Ambulance 113"), _("Ambulance 144, police 117"),
    _("Chat on 112.is"), _("Chat on the site"), _("Choose option 2"), _("Choose option 4"),
    _("Choose option 5"), _("Emotional support centres around the world"),
    _("Free lines for talking, texting or chatting in more than 130 countries"),
    _("From a mobile 0917-899-8727"), _("From a mobile; ambulance 10177, police 10111"),
    _("Or 0800 1110222, 116 123, or chat on the site"), _("Or 0800-0113, or chat on the site"), _("Or 112"),
    _("Outside Buenos Aires (011) 5275-1135"), _("SAMU 15, police 17"),
    _("Shelters and their lines near you"), _("Text 0477 13 11 14, or chat on the site"), _("Text 1737"),
    _("Text 4357"), _("Text 988"), _("Text 988, or chat on the site"), _("Text CONNECT to 686868"),
    _("Text HELLO to 50808"), _("Text HELP to 51444"), _("Text HOME to 741741"), _("Text SHOUT to 85258"),
    _("Text START to 88788"), _("WhatsApp 300 754 8933"), _("WhatsApp 324 011 7252"),
    _("WhatsApp 9151 1767"),
)  # fmt: skip
MARKED_HOURS = (
    _("24/7"), _("At least 18 hours a day"), _("Mon–Sat 14–20"), _("daily 9–24"),
)  # fmt: skip
MARKED_LANGUAGES = (
    _("53 languages"), _("Cantonese, Putonghua, English"), _("Chinese"), _("Czech"), _("Danish"),
    _("Dutch"), _("English, Cantonese, Mandarin"), _("English, French"), _("English, Hindi and 18 more"),
    _("English, Spanish"), _("Finnish"), _("French"), _("French and more"), _("German"),
    _("German and 18 more"), _("German, French, Italian"), _("Greek"), _("Hebrew and more"), _("Hungarian"),
    _("Icelandic, English"), _("Italian"), _("Italian and more"), _("Japanese"), _("Japanese and more"),
    _("Korean"), _("Latvian, Russian, English"), _("Mandarin"), _("Norwegian"), _("Polish"),
    _("Portuguese"), _("Romanian"), _("Russian"), _("Slovenian"), _("Spanish"), _("Swedish"),
    _("Swedish, with interpreters"), _("Ukrainian"),
)  # fmt: skip
