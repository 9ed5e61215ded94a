"use strict";
(() => {
  const { byId, phrase, errors } = page;
  const { features, names, rows } = JSON.parse(byId("buckets").textContent);
  const of = new Map(errors.findings.map((finding, number) => [finding, rows[number]]));
  const bucket = (finding, feature) => {
    const row = of.get(finding);
    return row ? names[row[features.indexOf(feature)]] : undefined;
  };
  let chosen = null;
  errors.addFilter((finding) => chosen === null
    || (finding.sequence === chosen[1] && bucket(finding, chosen[0]) === chosen[2]));

  const buttons = [...document.querySelectorAll("button[data-bucket]")];
  const press = (pressed) => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button === pressed));
  };
  press(null);
  errors.onClear(() => {
    chosen = null;
    press(null);
  });
  for (const button of buttons) {
    button.title = phrase("show the errors of this bucket");
    button.addEventListener("click", () => {
      const wasPressed = button.getAttribute("aria-pressed") === "true";
      errors.clear();
      chosen = wasPressed ? null : JSON.parse(button.dataset.bucket);
      press(wasPressed ? null : button);
      errors.apply();
      byId("findings").scrollIntoView();
    });
  }
})();
