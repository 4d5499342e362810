// Begins with the state that the address gives; "selftest" in it runs the test of the page.
window.addEventListener('load', () => {
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  View.setTheme(dark.matches ? 'dark' : 'light');
  dark.addEventListener('change', () => View.setTheme(dark.matches ? 'dark' : 'light'));
  Panels.start();
  Controls.start();
  Address.listen();
  const wanted = Address.read();
  View.restore(wanted);
  // For a page that shows two of these beside each other.
  window.setFuselageState = ({stage, node}) => {
    const at = Model.stages.findIndex(({name}) => name === stage);
    if (at >= 0 && at !== View.state.stage) View.setStage(at);
    if (node && node !== View.state.selected && View.stageNow().nodes.has(node)) View.go(node);
  };
  if (wanted.selftest) Selftest.run();
});
