
// Runs step by step: a line for each step, threads as columns. Only what is in view is drawn.
(() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const [HEADER, FOOTER] = [26, 8];
  const CHARACTER = 6.7;
  const [SMALLEST, LARGEST, READABLE, WITH_SOURCE, USUAL] = [1, 44, 13, 30, 20];
  const NARROWEST_COLUMN = 230;
  const [NARROWEST_LANE, WIDEST_LANE, WORDS_BESIDE_LANES] = [16, 110, 280];
  // Sorts of steps that are treated apart.
  const [LOCK, UNLOCK, THREAD, STUCK] = [2, 3, 5, 6];

  function shape(tag, attributes, text) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  }

  function html(tag, className, text) {
    const element = document.createElement(tag);
    element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  }

  const cut = (text, width) => {
    const room = Math.floor(width / CHARACTER);
    return text.length <= room ? text : `${text.slice(0, Math.max(0, room - 1))}…`;
  };

  // The same for the same name in both runs.
  const colour = (name) => [...name].reduce((sum, character) => sum + character.codePointAt(0), 0) % 4;

  // From when to when a thread is known to hold a lock, and how many it held already. A lock is on record only where
  // it changes hands; accesses know which are held.
  function holdings(steps) {
    const spans = [];
    const open = {};
    const begin = (thread, object, at) => {
      const held = (open[thread] ??= {});
      held[object] ??= spans[spans.push({ thread, object, from: at, to: at, depth: Object.keys(held).length }) - 1];
      held[object].to = at;
    };
    steps.forEach(({ thread, sort, object, locks }, at) => {
      if (sort === LOCK) begin(thread, object, at);
      if (sort === UNLOCK && open[thread]?.[object]) begin(thread, object, at);
      if (sort === UNLOCK) delete open[thread]?.[object];
      for (const lock of locks ?? []) begin(thread, lock, at);
      for (const held of Object.values(locks ? (open[thread] ?? {}) : {}))
        if (!locks.includes(held.object)) delete open[thread][held.object];
    });
    return spans;
  }

  function read({ texts, steps, ...run }) {
    const read = ([number, thread, sort, words, place, object, inside, source, access, locks]) => ({
      number, thread, sort, object, access, locks,
      words: texts[words], place: texts[place], inside: texts[inside], source: texts[source],
    });
    return { ...run, steps: steps.map(read) };
  }

  // What the finding is about, or what threads wait for at the end: these variables and the locks held meanwhile.
  function matters({ steps }) {
    const about = steps.flatMap(({ access, sort }, at) => (access >= 0 || sort === STUCK ? [at] : []));
    const meanwhile = ({ thread, from, to }) =>
      about.some((at) => steps[at].thread === thread && from <= at && at <= to);
    const objects = new Set(about.map((at) => steps[at].object));
    for (const span of holdings(steps).filter(meanwhile)) objects.add(span.object);
    return steps.filter(({ object, sort }) => about.length === 0 || objects.has(object) || sort === THREAD);
  }

  // Some steps of a run as they are drawn, with the threads that they are of.
  function view(run, steps) {
    const threads = run.threads.map((_, thread) => thread).filter((thread) => steps.some((step) => step.thread === thread));
    const drawn = steps.map((step) => ({ ...step, thread: threads.indexOf(step.thread) }));
    const marks = drawn.flatMap(({ access }, at) => (access < 0 ? [] : [at]));
    return { threads: threads.map((thread) => run.threads[thread]), steps: drawn, marks, spans: holdings(drawn) };
  }

  class Pane {
    constructor(run, timeline) {
      this.whole = run;
      this.timeline = timeline;
      this.choose(false);
      this.selected = -1;
      this.scroll = html("div", "scroll");
      this.scroll.tabIndex = 0;
      this.scroll.setAttribute("role", "group");
      this.scroll.setAttribute("aria-label", `${run.title}, step by step`);
      this.picture = shape("svg", { "aria-hidden": "true" });
      this.spacer = html("div", "spacer");
      this.scroll.append(this.picture, this.spacer);
      this.said = html("p", "said quiet", this.extent);
      this.said.setAttribute("aria-live", "polite");
      this.element = html("div", "pane");
      this.element.append(html("h4", run.failed ? "bad" : "good", run.title), this.scroll, this.said);
      this.scroll.addEventListener("scroll", () => this.draw());
      this.scroll.addEventListener("pointermove", (event) => this.say(this.at(event)));
      this.scroll.addEventListener("pointerleave", () => this.say(this.selected));
      this.scroll.addEventListener("click", (event) => this.select(this.at(event)));
      this.scroll.addEventListener("keydown", (event) => this.press(event));
      this.scroll.addEventListener("wheel", (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        const at = event.clientY - this.scroll.getBoundingClientRect().top - HEADER;
        timeline.zoom(event.deltaY < 0 ? 1.25 : 0.8, this, at);
      }, { passive: false });
    }

    // Shows everything, or what matters.
    choose(everything) {
      this.view = view(this.whole, everything ? this.whole.steps : matters(this.whole));
      this.selected = -1;
    }

    get extent() {
      const [shown, all] = [this.view.steps.length, this.whole.all];
      return shown === all ? `${all} steps` : `${shown} of ${all} steps`;
    }

    get room() { return Math.max(0, this.scroll.clientHeight - HEADER - FOOTER); }

    at({ clientY }) {
      const y = clientY - this.scroll.getBoundingClientRect().top - HEADER + this.scroll.scrollTop;
      const at = Math.floor(y / this.timeline.height);
      return at >= 0 && at < this.view.steps.length ? at : -1;
    }

    press(event) {
      const { key } = event;
      const step = { ArrowDown: 1, ArrowUp: -1 }[key];
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (step) this.select(Math.max(0, Math.min(this.selected + step, this.view.steps.length - 1)));
      else if (key === "+" || key === "=") this.timeline.zoom(1.5, this);
      else if (key === "-") this.timeline.zoom(1 / 1.5, this);
      else if (key === "0") this.timeline.fit();
      else if (key === "n") this.select(this.view.marks.find((mark) => mark > this.selected) ?? this.view.marks[0] ?? -1);
      else if (key === "p") this.select(this.view.marks.findLast((mark) => mark < this.selected) ?? this.view.marks.at(-1) ?? -1);
      else return;
      event.preventDefault();
      event.stopPropagation();
    }

    select(at) {
      this.selected = at;
      this.say(at);
      const { height } = this.timeline;
      const top = this.scroll.scrollTop;
      if (at >= 0 && (at * height < top || (at + 1) * height > top + this.room)) this.show(at, at);
      this.draw();
    }

    // Scrolls so that these steps are in the middle.
    show(from, to) {
      this.scroll.scrollTop = ((from + to + 1) / 2) * this.timeline.height - this.room / 2;
    }

    say(at) {
      const step = this.view.steps[at];
      if (!step) return void (this.said.textContent = this.extent);
      const inside = step.inside ? ` in ${step.inside}` : "";
      const where = step.place ? ` at ${step.place}${inside}` : inside;
      const locks = (step.locks ?? []).map((lock) => this.whole.objects[lock]).join(", ");
      const holding = locks ? `, holding ${locks}` : "";
      this.said.textContent = `${step.number}. thread ${this.view.threads[step.thread]}: ${step.words}${where}${holding}`;
    }

    draw() {
      const { height } = this.timeline;
      const { scroll, view: run } = this;
      scroll.style.height = `${run.steps.length * height + HEADER + FOOTER + 2}px`;
      const width = scroll.clientWidth;
      this.spacer.style.height = `${run.steps.length * height + HEADER + FOOTER}px`;
      this.spacer.style.marginTop = `-${scroll.clientHeight}px`;
      this.picture.setAttribute("width", width);
      this.picture.setAttribute("height", scroll.clientHeight);
      const columns = width / run.threads.length;
      const inLanes = columns < NARROWEST_COLUMN;
      const share = (width - WORDS_BESIDE_LANES) / run.threads.length;
      const lane = Math.min(WIDEST_LANE, Math.max(NARROWEST_LANE, share));
      const left = (thread) => (inLanes ? thread * lane : thread * columns) + 4;
      const beginOfText = (thread) => (inLanes ? run.threads.length * lane + 10 : left(thread) + 22);
      const roomForText = inLanes ? width - beginOfText(0) - 6 : columns - 34;
      const top = scroll.scrollTop;
      const y = (at) => HEADER + (at + 0.5) * height - top;
      const first = Math.max(0, Math.floor(top / height) - 1);
      const last = Math.min(run.steps.length - 1, Math.ceil((top + this.room) / height));
      const shapes = run.threads.map((_, thread) =>
        shape("path", { class: "life", d: `M${left(thread) + 10} ${HEADER} V${scroll.clientHeight}` }));
      for (const { thread, object, from, to, depth } of run.spans) {
        if (to < first || from > last) continue;
        const [begin, end] = [Math.max(y(from), 0), Math.min(y(to), scroll.clientHeight)];
        const x = left(thread) - 3 + Math.min(depth, 1) * 4;
        const bar = shape("rect", { class: `held v${colour(this.whole.objects[object])}`, x, y: begin, width: 3, height: Math.max(2, end - begin), rx: 1.5 });
        bar.append(shape("title", {}, `holds ${this.whole.objects[object]}`));
        shapes.push(bar);
      }
      shapes.push(...this.handovers(y, (thread) => left(thread) + 10));
      for (let at = first; at <= last; at += 1) {
        const step = run.steps[at];
        const isMarked = step.access >= 0;
        if (isMarked || at === this.selected) {
          const kind = at === this.selected ? "row selected" : "row";
          shapes.push(shape("rect", { class: kind, x: 0, y: y(at) - Math.max(height, 10) / 2, width, height: Math.max(height, 10) }));
        }
        if (isMarked) shapes.push(...this.badge(step, left(step.thread) + 10, y(at)));
        else {
          const size = Math.max(1, Math.min(height - 1, 8));
          shapes.push(shape("rect", { class: `mark s${step.sort}`, x: left(step.thread) + 10 - 4, y: y(at) - size / 2, width: 8, height: size, rx: Math.min(2, size / 2) }));
        }
        if (height < READABLE) continue;
        const withSource = height >= WITH_SOURCE && step.source;
        const x = beginOfText(step.thread);
        const words = shape("text", { class: `words s${step.sort}`, x, y: y(at) + (withSource ? -3 : 4) });
        const place = cut(step.place, roomForText);
        words.append(shape("tspan", { class: "place" }, place));
        words.append(shape("tspan", { dx: step.place ? 8 : 0 }, cut(step.words, roomForText - 8 - place.length * CHARACTER)));
        shapes.push(words);
        if (withSource) shapes.push(shape("text", { class: "source", x, y: y(at) + 12 }, cut(step.source, roomForText)));
      }
      shapes.push(shape("rect", { class: "header", x: 0, y: 0, width, height: HEADER }));
      run.threads.forEach((name, thread) => {
        const room = (inLanes ? lane : columns) - 8;
        const title = room < 4 * CHARACTER ? name.split(" ")[0] : cut(name, room);
        const about = shape("text", { class: "title", x: left(thread) + 6, y: 17 }, title);
        about.append(shape("title", {}, name));
        shapes.push(about);
      });
      this.picture.replaceChildren(...shapes);
    }

    badge(step, x, y) {
      const colour = this.timeline.colours[step.access] ?? 0;
      return [
        shape("circle", { class: `badge t${colour}`, cx: x, cy: y, r: 8 }),
        shape("text", { class: "number", x, y: y + 4 }, step.access + 1),
      ];
    }

    // From each of the finding's accesses to the next, where the thread changes.
    handovers(y, x) {
      const { marks, steps } = this.view;
      return marks.slice(1).flatMap((to, index) => {
        const from = marks[index];
        if (steps[from].thread === steps[to].thread) return [];
        const points = [x(steps[from].thread), y(from), x(steps[to].thread), y(to)];
        const [x1, y1, x2, y2] = points;
        return [shape("path", { class: "between", d: `M${x1} ${y1} C${x1} ${(y1 + y2) / 2} ${x2} ${(y1 + y2) / 2} ${x2} ${y2}` })];
      });
    }
  }

  class Timeline {
    constructor(section, { runs, colours }) {
      this.height = USUAL;
      this.colours = colours;
      this.panes = runs.map((run) => new Pane(read(run), this));
      const tools = html("div", "zoom");
      const button = (label, title, action) => {
        const made = html("button", "", label);
        made.type = "button";
        made.title = title;
        made.setAttribute("aria-label", title);
        made.addEventListener("click", action);
        tools.append(made);
      };
      button("−", "further (-)", () => this.zoom(1 / 1.5));
      button("+", "closer (+)", () => this.zoom(1.5));
      button("all", "all of it (0)", () => this.fit());
      button("accesses", "where the accesses of this finding are (n)", () => this.home());
      const everything = html("input", "");
      everything.type = "checkbox";
      everything.addEventListener("change", () => {
        for (const pane of this.panes) {
          pane.choose(everything.checked);
          pane.say(-1);
        }
        this.home();
      });
      const label = html("label", "", "other variables too");
      label.prepend(everything);
      tools.append(label);
      const panes = html("div", "panes");
      panes.append(...this.panes.map((pane) => pane.element));
      section.querySelector("h3").append(tools);
      section.append(panes);
      section.hidden = false;
      new ResizeObserver(() => this.draw()).observe(section);
      this.home();
    }

    draw() { for (const pane of this.panes) pane.draw(); }

    // Changes the height of a step; what is at the anchor of a pane stays there.
    zoom(factor, pane, anchor) {
      const at = this.panes.map((each) => {
        const y = each === pane && anchor !== undefined ? anchor : each.room / 2;
        return [y, (each.scroll.scrollTop + y) / this.height];
      });
      this.height = Math.min(LARGEST, Math.max(SMALLEST, this.height * factor));
      this.panes.forEach((each, index) => {
        each.draw();
        const [y, step] = at[index];
        each.scroll.scrollTop = step * this.height - y;
        each.draw();
      });
    }

    // Everything in view, if that is possible.
    fit() {
      // As high as they may get, for the steps to share.
      for (const pane of this.panes) pane.scroll.style.height = "100vh";
      const [pane] = this.panes;
      const longest = Math.max(...this.panes.map((each) => each.view.steps.length), 1);
      this.height = Math.min(USUAL, Math.max(SMALLEST, pane.room / longest));
      this.draw();
    }

    // Where the accesses of the finding are, or else the end.
    home() {
      this.height = USUAL;
      for (const pane of this.panes) {
        const { marks, steps } = pane.view;
        pane.draw();
        const last = steps.length - 1;
        const [from, to] = marks.length > 0 ? [marks[0], marks.at(-1)] : [last, last];
        const isFar = (to - from + 2) * this.height > pane.room;
        pane.show(isFar ? to : from, to);
        pane.draw();
      }
    }
  }

  let all;
  document.addEventListener("opened", ({ target }) => {
    for (const section of target.querySelectorAll(".timeline")) {
      all ??= JSON.parse(document.getElementById("timelines").textContent);
      const timeline = all[section.dataset.timeline];
      if (timeline && !section.querySelector(".panes")) new Timeline(section, timeline);
    }
  });
})();
