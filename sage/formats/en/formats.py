"""How English pages write dates and times: the day first, and 24 hours.

The names that Django doesn't know (`WEEKDAY_…`, `…DAY_TIME_…`) work like its own. Each language has them all.
"""

DATE_FORMAT = "j F Y"
TIME_FORMAT = "H:i"
SECONDS_FORMAT = "H:i:s"
DATETIME_FORMAT = "j F Y, H:i"
YEAR_MONTH_FORMAT = "F Y"
DAY_OF_MONTH_FORMAT = "j"
MONTH_DAY_FORMAT = "j F"
SHORT_DATE_FORMAT = "j M Y"
SHORT_DATETIME_FORMAT = "j M Y, H:i"
DAY_TIME_FORMAT = "j F, H:i"
SHORT_DAY_FORMAT = "j M"
SHORT_DAY_TIME_FORMAT = "j M, H:i"
WEEKDAY_DATE_FORMAT = "l, j F Y"
WEEKDAY_DAY_FORMAT = "l, j F"
SHORT_WEEKDAY_DATE_FORMAT = "D, j M Y"
