
// Pointing at an access shows its source and its call stack beside it: copies of what the page has of them.
(() => {
  "use strict";
  const card = document.createElement("aside");
  card.id = "card";
  card.hidden = true;
  document.body.append(card);

  // The access it belongs to, and where that was.
  let shown;

  function fill(access) {
    const scope = access.closest(".scope");
    const find = (selector) =>
      [...(scope?.querySelectorAll(selector) ?? [])].find((found) => found.closest(".scope") === scope);
    const stack = find(`.stack[data-access="${access.dataset.access}"]`);
    const line = find(`.source .line[data-access~="${access.dataset.access}"]`);
    if (!stack && !line) return false;
    const parts = [];
    if (stack) parts.push(stack.querySelector("h4").cloneNode(true));
    if (line) {
      const code = document.createElement("div");
      code.className = "code";
      const around = [line.previousElementSibling, line, line.nextElementSibling].filter(Boolean);
      code.append(...around.map((near) => near.cloneNode(true)));
      parts.push(code);
    }
    if (stack) {
      const frames = document.createElement("ol");
      const own = [...stack.querySelectorAll("li")].filter((frame) => !frame.closest(".libraries"));
      frames.append(...own.map((frame) => frame.cloneNode(true)));
      parts.push(frames);
    }
    card.replaceChildren(...parts);
    for (const copy of card.querySelectorAll("[data-access]")) {
      copy.classList.remove("lit");
      delete copy.dataset.access;
    }
    return true;
  }

  // Beside the access where there is room, else below or above it.
  function put(access) {
    const { left, right, top, bottom } = access.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = card;
    const beside = right + 12 + width <= innerWidth ? right + 12 : left - 12 - width;
    const fits = beside >= 8;
    const x = fits ? beside : Math.max(8, Math.min(left, innerWidth - width - 8));
    const below = bottom + 8 + height <= innerHeight ? bottom + 8 : top - 8 - height;
    const y = fits ? Math.max(8, Math.min(top, innerHeight - height - 8)) : Math.max(8, below);
    card.style.left = `${x}px`;
    card.style.top = `${y}px`;
    shown = { access, left, top };
  }

  function show({ target }) {
    const access = target.closest?.("g.access");
    card.hidden = !access || !fill(access);
    if (!card.hidden) put(access);
  }
  const hide = () => (card.hidden = true);
  // The page may be told late that it was scrolled to where the access is.
  function hideIfMoved() {
    const { left, top } = shown?.access.getBoundingClientRect() ?? {};
    if (left !== shown?.left || top !== shown?.top) hide();
  }
  document.addEventListener("pointerover", show);
  document.addEventListener("focusin", show);
  document.addEventListener("focusout", hide);
  document.addEventListener("scroll", hideIfMoved);
  document.addEventListener("keydown", ({ key }) => key === "Escape" && hide());
})();
