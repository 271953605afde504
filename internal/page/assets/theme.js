// Before the first paint: the theme that was chosen last at this address. The server
// knows that of earlier runs.
try {
  const theme = localStorage.getItem("quarry.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch { /* storage is off: the system's theme */ }
