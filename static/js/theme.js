// Runs before the first paint: sets the chosen scheme and marks that scripts work. Keep it tiny.
(() => {
  const root = document.documentElement;
  root.classList.add("has-script");
  try {
    const theme = localStorage.getItem("sage-theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  } catch {
    // Storage is off: the system's scheme applies.
  }
})();
