// Runs before the first paint: sets the chosen scheme, hides a sidebar that was closed, and marks that scripts work.
// Keep it tiny.
(() => {
  const root = document.documentElement;
  root.classList.add("has-script");
  try {
    const theme = localStorage.getItem("sage-theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    if (localStorage.getItem("sage-sidebar") === "closed") root.dataset.sidebar = "closed";
  } catch {
    // Storage is off: the system's scheme applies.
  }
})();
