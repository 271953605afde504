// Before the first paint: the theme that was chosen here last.
try {
  const theme = localStorage.getItem("quarry.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch { /* storage is off: the system's theme */ }
