"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const AT_ONCE = 200;
  const byId = (id) => document.getElementById(id);

  // Read when it is first needed: with many findings it takes a moment, which the first look at the page need not.
  let read;
  const data = () => (read ??= JSON.parse(byId("data").textContent));

  // Text becomes a text node and nothing else; tags and attributes are the page's own.
  function build(index, space) {
    const node = data().nodes[index];
    if (typeof node === "string") return document.createTextNode(node);
    const [tag, attributes, ...children] = node;
    const inner = tag === "svg" ? SVG : space;
    const element = inner ? document.createElementNS(inner, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children.map((child) => build(child, inner)));
    return element;
  }

  function textOf(index) {
    const node = data().nodes[index];
    return typeof node === "string" ? node : node.slice(2).map(textOf).join(" ");
  }

  // The body of a finding is built when it is first opened; what depends on its size follows.
  document.addEventListener("toggle", ({ target }) => {
    if (!target.matches(".finding") || !target.open || target.querySelector(".body")) return;
    target.append(build(data().findings[target.dataset.finding][1]));
    complete(target);
  }, true);

  function complete(finding) {
    for (const command of finding.querySelectorAll(".command")) {
      const copy = document.createElement("button");
      copy.type = "button";
      copy.className = "copy";
      copy.textContent = "copy";
      copy.hidden = !navigator.clipboard;
      command.append(copy);
    }
    finding.dispatchEvent(new Event("opened", { bubbles: true }));
  }
  queueMicrotask(() => document.querySelectorAll(".finding[open]").forEach(complete));

  async function copy(button) {
    const said = await navigator.clipboard.writeText(button.parentElement.querySelector("code").textContent).then(
      () => "copied",
      () => "not allowed",
    );
    button.textContent = said;
    setTimeout(() => (button.textContent = "copy"), 1500);
  }

  // The findings below the fold: those that match the search, some at a time.
  const further = byId("further");
  const rows = byId("rows");
  const more = byId("more");
  const listed = document.querySelectorAll(".finding").length;
  let hidden;
  let waiting = [];

  function showMore() {
    const next = waiting.splice(0, AT_ONCE).map((index) => {
      const row = document.createElement("details");
      row.className = "finding";
      row.dataset.finding = index;
      row.append(build(data().findings[index][0]));
      return row;
    });
    rows.append(...next);
    more.hidden = waiting.length === 0;
    more.textContent = `Show ${Math.min(AT_ONCE, waiting.length)} of ${waiting.length} more`;
    return next[0];
  }

  function search(words) {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    hidden ??= data().findings.slice(listed).map(([summary]) => textOf(summary).toLowerCase());
    waiting = [...hidden.keys()].filter((index) => wanted.every((word) => hidden[index].includes(word)));
    waiting = waiting.map((index) => listed + index);
    rows.replaceChildren();
    showMore();
    if (rows.childElementCount === 0) rows.textContent = "No further suspect has these words.";
  }

  if (further) {
    const field = further.querySelector("input");
    further.addEventListener("toggle", () => {
      if (further.open && rows.childElementCount === 0) search(field.value);
    });
    field.addEventListener("input", () => search(field.value));
    more.addEventListener("click", () => showMore()?.querySelector("summary").focus());
  }

  // Pointing at an access, in the picture or elsewhere, lights up everything about it.
  function light(target) {
    const accessed = target.closest?.("[data-access]");
    for (const lit of document.querySelectorAll(".lit")) lit.classList.remove("lit");
    if (!accessed) return;
    const scope = accessed.closest(".scope");
    for (const access of accessed.dataset.access.split(" ")) {
      const same = scope.querySelectorAll(`[data-access~="${access}"]`);
      for (const element of same) if (element.closest(".scope") === scope) element.classList.add("lit");
    }
  }
  document.addEventListener("pointerover", ({ target }) => light(target));
  document.addEventListener("focusin", ({ target }) => light(target));

  function showSource(target) {
    const access = target.closest?.("g.access");
    const source = access?.closest(".scope").querySelector(`.source [data-access~="${access.dataset.access}"]`);
    source?.scrollIntoView({ block: "nearest", behavior: "smooth" });
    return access;
  }
  document.addEventListener("click", ({ target }) => {
    showSource(target);
    const opener = target.closest?.("[data-open]");
    if (opener) reveal(opener.dataset.open);
    if (target.matches?.(".copy")) copy(target);
  });

  // Opens a finding, wherever it is in the list.
  function reveal(index) {
    const find = () => document.querySelector(`.finding[data-finding="${index}"]`);
    if (!find() && further) {
      further.querySelector("input").value = "";
      search("");
      further.open = true;
      while (!find() && waiting.length > 0) showMore();
    }
    const finding = find();
    if (!finding) return;
    finding.open = true;
    finding.querySelector("summary").focus({ preventScroll: true });
    finding.scrollIntoView({ block: "start", behavior: "smooth" });
  }

  function go(step) {
    const all = [...document.querySelectorAll(".finding > summary")].filter((row) => row.offsetParent);
    const at = all.indexOf(document.activeElement?.closest(".finding")?.querySelector("summary"));
    let next = at < 0 ? all[0] : all[at + step];
    if (!next && step > 0 && further) {
      if (!further.open) {
        search(further.querySelector("input").value);
        further.open = true;
        next = rows.querySelector("summary");
      } else if (waiting.length > 0) {
        next = showMore().querySelector("summary");
      }
    }
    next?.focus();
  }

  function close() {
    const open = document.activeElement?.closest(".finding[open]") ?? document.querySelector(".finding[open]");
    if (!open) return;
    open.open = false;
    open.querySelector("summary").focus();
  }

  const root = document.documentElement;
  function changeTheme() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = root.dataset.theme ?? (dark ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
  }

  const keys = {
    j: () => go(1),
    k: () => go(-1),
    t: changeTheme,
    "?": () => byId("help").showModal(),
    "/": () => {
      if (!further) return;
      further.open = true;
      further.querySelector("input").focus();
    },
    Escape: close,
  };
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
    if (target.matches("input")) {
      if (key === "Escape") target.blur();
      return;
    }
    const onRow = target.matches(".finding > summary");
    let done = true;
    if (onRow && key === "ArrowDown") go(1);
    else if (onRow && key === "ArrowUp") go(-1);
    else if (key === "Enter") done = showSource(target);
    else if (keys[key]) keys[key]();
    else done = false;
    if (done) event.preventDefault();
  });

  byId("theme").addEventListener("click", changeTheme);
  byId("keys").addEventListener("click", keys["?"]);
  byId("theme").hidden = byId("keys").hidden = false;
})();
