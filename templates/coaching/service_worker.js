{% autoescape off %}self.shell = {{ shell }};
importScripts({{ script }});
{% endautoescape %}
