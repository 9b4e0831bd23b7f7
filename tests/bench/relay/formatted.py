"""A reply with headings, lists, a table, tasks and code, in pieces as a model sends them."""

import re

PIECES = 500

_WEEK = """## A week that leaves room

You said that **most evenings are gone** before you notice. Let us look at what took them, and at what you
would *rather* have done with the time. Nothing here is fixed; change whatever doesn't fit.

### What took the evenings

- Work that ran over, on **three** of five days
- Errands that nobody else would have done
- The phone, mostly after `21:00`, and mostly without wanting to
  - news, again and again
  - messages that could have waited
- One evening with friends, which you would keep

1. Choose the evening that matters most.
2. Say no to one thing on that day, early and kindly.
3. Put the phone in the hall before dinner.

| Day | Hours gone | What I would rather do |
|:----|-----------:|:----------------------:|
| Monday | 2.5 | a walk |
| Tuesday | 1 | cook with Jo |
| Wednesday | 3 | choir |
| Thursday | 0.5 | read |
| Friday | 2 | see friends |

> You don't have to earn a free evening.

#### For this week

- [ ] Tell Jo about Wednesday
- [ ] Ask for the early shift
- [x] Write down what took the evenings

```python
evenings = {"Mon": 2.5, "Tue": 1, "Wed": 3, "Thu": 0.5, "Fri": 2}

def hours_gone(evenings):  # all of them
    return sum(evenings.values())

print(f"{hours_gone(evenings)} hours gone")
```

"""


def pieces() -> list[str]:
    """Return the reply in as many pieces as a measurement has tokens."""
    found = re.findall(r"\s*\S{1,6}", _WEEK)
    while len(found) < PIECES:
        found += re.findall(r"\s*\S{1,6}", "\n\n" + _WEEK)
    return found[:PIECES]
