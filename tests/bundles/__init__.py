"""Makes what pages load from `static/js` and `static/css`, by programs of npm that nothing else needs."""
