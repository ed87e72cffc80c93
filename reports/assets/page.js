/* SPDX-License-Identifier: GPL-2.0-or-later */
// The page is complete without this script. It adds the theme switch, zoomable timelines, and opens what a link leads to.
"use strict";
(function () {
	const root = document.documentElement;

	// Theme: the system's until the reader chooses
	const button = document.getElementById("theme");
	const dark = window.matchMedia("(prefers-color-scheme: dark)");
	function isDark() {
		return root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
	}
	function label() {
		button.textContent = isDark() ? "Light" : "Dark";
		button.setAttribute("aria-label", "Switch to " + (isDark() ? "light" : "dark") + " colours");
	}
	button.hidden = false;
	button.addEventListener("click", () => {
		root.dataset.theme = isDark() ? "light" : "dark";
		label();
	});
	dark.addEventListener("change", label);
	label();

	// A link's target may lie in something closed
	function reveal(id) {
		const target = id && document.getElementById(id);
		if (!target)
			return null;
		for (let e = target; e; e = e.parentElement)
			if (e instanceof HTMLDetailsElement)
				e.open = true;
		return target;
	}
	document.addEventListener("click", (event) => {
		const link = event.target.closest && event.target.closest("a");
		const href = link && link.getAttribute("href");
		if (!href || href[0] !== "#" || event.ctrlKey || event.metaKey)
			return;
		const target = reveal(href.slice(1));
		if (!target)
			return;
		document.querySelectorAll(".tl a.here").forEach((e) => e.classList.remove("here"));
		if (link.closest(".tl"))
			link.classList.add("here");
		if (target.hasAttribute("tabindex"))
			setTimeout(() => target.focus({ preventScroll: true }), 0);
	});
	reveal(decodeURIComponent(location.hash.slice(1)));
	window.addEventListener("hashchange", () => reveal(decodeURIComponent(location.hash.slice(1))));
	window.addEventListener("beforeprint", () => document.querySelectorAll("details.stall").forEach((e) => { e.open = true; }));

	// Times as the report writes them: three digits and a unit, or seconds with as many decimals as a step needs
	function duration(ns) {
		const units = [["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]];
		const [name, size] = units.find((u) => ns >= u[1] * 0.9995) || units[3];
		const v = ns / size;
		return v.toFixed(v < 9.995 ? 2 : v < 99.95 ? 1 : 0) + " " + name;
	}
	function seconds(ns, step) {
		const digits = Math.min(9, Math.max(0, Math.ceil(-Math.log10(step / 1e9))));
		if (ns > 1e18)
			return new Date(ns / 1e6).toISOString().slice(11, 19) + (digits ? (ns % 1e9 / 1e9).toFixed(digits).slice(1) : "");
		return (ns / 1e9).toFixed(digits) + " s";
	}
	function niceStep(span, ticks) {
		const raw = Math.max(span / ticks, 1);
		const power = Math.pow(10, Math.floor(Math.log10(raw)));
		return [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
	}
	const SVG = "http://www.w3.org/2000/svg";
	function svg(parent, name, attributes, text) {
		const e = document.createElementNS(SVG, name);
		for (const key in attributes)
			e.setAttribute(key, attributes[key]);
		if (text !== undefined)
			e.textContent = text;
		parent.appendChild(e);
	}

	function timeline(figure) {
		const view = figure.querySelector(".tl-view"), chart = figure.querySelector(".tl-svg"), axis = figure.querySelector(".tl-axis");
		const tools = figure.querySelector(".tl-tools"), output = tools.querySelector("output");
		const from = Number(figure.dataset.from), span = Number(figure.dataset.to) - from;
		const [, , units, height] = chart.getAttribute("viewBox").split(" ").map(Number);
		const least = Math.min(units, units * 1000 / span);	// no closer than 1 us
		let x = 0, width = units;

		function ticks() {
			const t0 = from + x / units * span, length = width / units * span;
			const step = niceStep(length, Math.max(2, Math.floor(view.clientWidth / 130)));
			axis.textContent = "";
			for (let t = Math.ceil(t0 / step) * step; t <= t0 + length; t += step) {
				const at = (t - t0) / length * 100;
				svg(axis, "line", { x1: at + "%", x2: at + "%", y2: 5 });
				if (at > 3 && at < 97)
					svg(axis, "text", { x: at + "%", y: 18 }, seconds(t, step));
			}
		}
		function show(newX, newWidth) {
			width = Math.min(units, Math.max(least, newWidth));
			x = Math.min(units - width, Math.max(0, newX));
			chart.setAttribute("viewBox", x + " 0 " + width + " " + height);
			output.textContent = width >= units ? duration(span) + " shown, all" :
				duration(width / units * span) + " from " + seconds(from + x / units * span, width / units * span / 100);
			ticks();
		}
		function zoom(factor, at) {
			const w = Math.min(units, Math.max(least, width * factor));
			show(x + (width - w) * at, w);
		}
		const does = {
			in: () => zoom(0.5, 0.5), out: () => zoom(2, 0.5), left: () => show(x - width / 4, width),
			right: () => show(x + width / 4, width), all: () => show(0, units),
		};
		const keys = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", "0": "all", Escape: "all",
			ArrowUp: "in", ArrowDown: "out", Home: "all" };

		tools.hidden = false;
		tools.addEventListener("click", (e) => e.target.dataset.do && does[e.target.dataset.do]());
		view.addEventListener("keydown", (e) => {
			const what = keys[e.key];
			if (!what || e.ctrlKey || e.metaKey || e.altKey)
				return;
			e.preventDefault();
			does[what]();
		});
		// A stall reached by Tab comes into sight
		view.addEventListener("focusin", (e) => {
			const mark = e.target.closest("a") && e.target.querySelector(".mark");
			if (!mark || !view.matches(":focus-within") || !e.target.matches(":focus-visible"))
				return;
			const box = mark.getBBox();
			if (box.x < x || box.x + box.width > x + width)
				show(box.x + box.width / 2 - width / 2, width);
		});
		function place(e) {
			const box = chart.getBoundingClientRect();
			return Math.min(1, Math.max(0, (e.clientX - box.left) / box.width));
		}
		view.addEventListener("wheel", (e) => {
			if (!(e.ctrlKey || e.metaKey || view.contains(document.activeElement)))
				return;
			e.preventDefault();
			if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY))
				show(x + (e.deltaX || e.deltaY) / view.clientWidth * width, width);
			else
				zoom(Math.exp(Math.max(-200, Math.min(200, e.deltaY)) / 300), place(e));
		}, { passive: false });

		// Drag selects and zooms; with Shift it moves. A click without a drag is the link's.
		let drag = null;
		view.addEventListener("pointerdown", (e) => {
			if (e.button === 0 && e.pointerType !== "touch")
				drag = { at: place(e), x: x, move: e.shiftKey, box: null };
		});
		view.addEventListener("pointermove", (e) => {
			if (!drag)
				return;
			const at = place(e);
			if (drag.move) {
				show(drag.x - (at - drag.at) * width, width);
				return;
			}
			if (!drag.box && Math.abs(at - drag.at) * view.clientWidth < 5)
				return;
			if (!drag.box) {
				drag.box = document.createElement("div");
				drag.box.className = "tl-sel";
				view.appendChild(drag.box);
				view.setPointerCapture(e.pointerId);
			}
			drag.box.style.left = Math.min(at, drag.at) * 100 + "%";
			drag.box.style.width = Math.abs(at - drag.at) * 100 + "%";
			drag.to = at;
		});
		function drop() {
			const d = drag;
			drag = null;
			if (!d || !d.box)
				return;
			d.box.remove();
			const a = Math.min(d.at, d.to), b = Math.max(d.at, d.to);
			show(x + a * width, (b - a) * width);
			view.addEventListener("click", (e) => { e.preventDefault(); e.stopPropagation(); }, { capture: true, once: true });
			setTimeout(() => view.dispatchEvent(new Event("click", { cancelable: true })), 0);
		}
		view.addEventListener("pointerup", drop);
		view.addEventListener("pointercancel", drop);
		view.addEventListener("dragstart", (e) => e.preventDefault());
		new ResizeObserver(ticks).observe(view);
		show(0, units);
	}
	document.querySelectorAll(".tl").forEach(timeline);
	document.querySelectorAll(".tl-hint").forEach((e) => { e.hidden = false; });
})();
