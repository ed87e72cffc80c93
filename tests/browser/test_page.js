// SPDX-License-Identifier: GPL-2.0-or-later
// test_page.js - the HTML report as people open it: no message, no request; the timeline zooms, chains open by mouse and by
// keyboard; it works without JavaScript; axe finds nothing serious; the markup is valid. TAP on stdout.
"use strict";
const { execFileSync } = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");
const puppeteer = require("puppeteer-core");
const { HtmlValidate } = require("html-validate");

const KVMORTEM = process.env.KVMORTEM || "./kvmortem";
const AXE = require.resolve("axe-core/axe.min.js");
const CASES = process.env.PAGES ? process.env.PAGES.split(" ") : ["A-healthy-perf-6.1", "B-root-churn-tdp1-prefix-kvm", "C-createvm-6.1-default", "D-minshares-6.1", "E-ksm-numa-on-4k", "X-l1-oops"];
let number = 0, failed = 0;

function ok(good, what, ...why) {
	number++;
	failed += good ? 0 : 1;
	console.log(`${good ? "ok" : "not ok"} ${number} - ${what}`);
	if (!good)
		why.flat().slice(0, 12).forEach((w) => console.log("# " + String(w).replace(/\n/g, " ").slice(0, 300)));
}

// A page that notes everything it should not do
async function open(browser, file, { js = true, theme = "light", width = 1280 } = {}) {
	const page = await browser.newPage();
	page.noise = [];
	page.on("console", (m) => page.noise.push("console: " + m.text()));
	page.on("pageerror", (e) => page.noise.push("error: " + e.message));
	page.on("request", (r) => r.url() === "file://" + file || page.noise.push("request: " + r.url().slice(0, 100)));
	await page.setJavaScriptEnabled(js);
	await page.setViewport({ width, height: 900 });
	await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }, { name: "prefers-reduced-motion", value: "reduce" }]);
	await page.goto("file://" + file);
	return page;
}

const viewBox = (page) => page.$eval(".tl-svg", (e) => e.getAttribute("viewBox"));

async function axe(page, what) {
	await page.evaluate(fs.readFileSync(AXE, "utf8"));
	const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
	const bad = found.violations.filter((v) => v.impact === "serious" || v.impact === "critical");
	ok(!bad.length, `${what}: axe has no serious remark`, bad.map((v) => `${v.id}: ${v.help}: ${v.nodes.length}, e.g. ${v.nodes[0].html} ${v.nodes[0].failureSummary}`));
}

async function testEach(browser, name, file, both) {
	for (const theme of both ? ["light", "dark"] : ["light"]) {
		const page = await open(browser, file, { theme });
		ok(!page.noise.length, `${name}, ${theme}: no console message, no request`, page.noise);
		await axe(page, `${name}, ${theme}`);
		await page.close();
	}
	const page = await open(browser, file, { width: 390 });
	const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
	ok(wide <= 0, `${name}: a phone's width needs no sideways scrolling`, wide);
	await page.close();
}

async function testTimeline(browser, file) {
	const page = await open(browser, file);
	const all = await viewBox(page);
	const width = async () => Number((await viewBox(page)).split(" ")[2]);
	const full = await width();

	await page.click('.tl [data-do="in"]');
	ok(await width() === full / 2, "the + button zooms", await viewBox(page));
	await page.focus(".tl-view");
	await page.keyboard.press("+");
	ok(await width() === full / 4, "+ zooms", await viewBox(page));
	const before = Number((await viewBox(page)).split(" ")[0]);
	await page.keyboard.press("ArrowRight");
	ok(Number((await viewBox(page)).split(" ")[0]) > before, "the right arrow moves", await viewBox(page));
	await page.keyboard.press("-");
	ok(await width() === full / 2, "- zooms out", await viewBox(page));
	await page.keyboard.press("0");
	ok(await viewBox(page) === all, "0 shows all", await viewBox(page));

	await page.$eval(".tl-view", (e) => e.scrollIntoView({ block: "center" }));
	const box = await (await page.$(".tl-svg")).boundingBox();
	const y = box.y + box.height - 3;
	await page.mouse.move(box.x + box.width / 2, y);
	await page.mouse.wheel({ deltaY: -200 });
	await page.waitForFunction((w) => Number(document.querySelector(".tl-svg").getAttribute("viewBox").split(" ")[2]) < w, { timeout: 3000 }, full).catch(() => {});
	ok(await width() < full, "the wheel zooms where the timeline has the focus", await viewBox(page));
	await page.keyboard.press("0");
	await page.mouse.move(box.x + box.width * 0.25, y);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.75, y, { steps: 5 });
	await page.mouse.up();
	const now = (await viewBox(page)).split(" ").map(Number);
	ok(Math.abs(now[0] / full - 0.25) < 0.02 && Math.abs(now[2] / full - 0.5) < 0.02, "dragging selects a stretch", now);
	// a stall zoomed to fills the view with what its chain says
	await page.keyboard.press("0");
	await page.$eval(".tl-svg a", (e) => e.focus({ focusVisible: true }));
	for (let i = 0; i < 12; i++)
		await page.keyboard.press("+");
	const exact = await page.$$eval(".tl-svg .exact", (all) => all.length);
	ok(exact > 0 && await width() < full / 1000, "the timeline zooms to a thousandth, with exact links of the stalls", exact, await viewBox(page));
	await page.keyboard.press("0");
	await page.mouse.move(box.x + box.width * 0.25, y);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.75, y, { steps: 5 });
	await page.mouse.up();
	const said = await page.$eval(".tl-tools output", (e) => e.textContent);
	ok(/^[\d.]+ (s|ms|us) from [\d.]+ s$/.test(said), "and the page says which", said);
	ok(!page.noise.length, "all that without a message", page.noise);
	await page.close();
}

const isOpen = (page, id) => page.$eval("#" + id, (e) => !e.closest("details") || e.closest("details").open);

async function testChains(browser, file) {
	const page = await open(browser, file);
	const ids = await page.$$eval(".tl a", (all) => all.map((a) => a.getAttribute("href").slice(1)));
	const shut = [];
	for (const id of new Set(ids))
		if (!await isOpen(page, id))
			shut.push(id);
	ok(shut.length >= 2, "there are marked stalls whose chain is closed", ids.length, shut.length);

	await page.evaluate((id) => {
		const a = document.querySelector(`.tl a[href="#${id}"]`);
		a.scrollIntoView({ block: "center" });
	}, shut[0]);
	const box = await (await page.$(`.tl a[href="#${shut[0]}"] .mark`)).boundingBox();
	await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
	await new Promise((r) => setTimeout(r, 100));
	ok(await isOpen(page, shut[0]) || (await page.$$eval("details.stall[open]", (e) => e.length)) > 1, "a click on a stall opens its chain", shut[0]);

	await page.$eval(`.tl a[href="#${shut[1]}"]`, (e) => e.focus());
	await page.keyboard.press("Enter");
	await new Promise((r) => setTimeout(r, 100));
	ok(await isOpen(page, shut[1]), "Enter on a stall opens its chain", shut[1]);
	ok(await page.evaluate((id) => document.activeElement.id === id, shut[1]), "and the focus goes there");
	const drawn = await page.$eval("#" + shut[1], (e) => ({ blocks: e.querySelectorAll(".chain g rect").length, rows: e.querySelectorAll("tbody tr").length,
		cites: e.querySelectorAll("a.c").length }));
	ok(drawn.blocks > 0 && drawn.rows > 0 && drawn.cites > 0, "it is drawn, and told with citations", JSON.stringify(drawn));

	await page.$eval("#" + shut[1] + " a.c", (e) => e.focus());
	const href = await page.evaluate(() => document.activeElement.getAttribute("href"));
	await page.keyboard.press("Enter");
	await new Promise((r) => setTimeout(r, 100));
	ok(await page.evaluate((h) => "#" + document.activeElement.id === h, href), "a citation leads to the list of citations", href);

	const arrows = await page.$$eval(".chain .arrow", (e) => e.length);
	ok(arrows > 0, "arrows where the path passes from thread to thread", arrows);
	await page.close();
}

async function testTheme(browser, file) {
	const page = await open(browser, file);
	const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
	const light = await colour();
	await page.focus("#theme");
	await page.keyboard.press("Enter");
	const dark = await colour();
	await page.keyboard.press("Enter");
	ok(light !== dark && await colour() === light, "the theme can be switched by keyboard", light, dark);
	await page.close();
}

async function testWithoutScript(browser, file) {
	const page = await open(browser, file, { js: false });
	const seen = await page.evaluate(() => {
		const shown = (q) => [...document.querySelectorAll(q)].filter((e) => e.getClientRects().length).length;
		return { h1: shown("h1"), states: shown(".tl-svg path"), chain: shown(".chain"), tools: shown(".tl-tools, #theme, .tl-hint"), details: shown("details.stall > summary") };
	});
	ok(seen.h1 === 1 && seen.states > 0 && seen.chain > 0 && seen.details > 1 && !seen.tools, "without JavaScript: verdict, timeline and chain, no dead buttons",
		JSON.stringify(seen));
	ok(!page.noise.length, "without JavaScript: no message, no request", page.noise);
	await page.close();
}

async function testPrint(browser, file) {
	const page = await open(browser, file);
	const pdf = await page.pdf({ format: "A4" });
	await page.emulateMediaType("print");
	const bars = await page.evaluate(() => [...document.querySelectorAll(".top, .tl-tools")].filter((e) => e.getClientRects().length).length);
	ok(pdf.length > 20000 && !bars, "prints, without the buttons", pdf.length, bars);
	await page.close();
}

async function testValid(name, file) {
	const validator = new HtmlValidate({
		extends: ["html-validate:standard"],
		rules: { "long-title": "off", "prefer-native-element": "off", "no-trailing-whitespace": "off", "no-inline-style": "error", "wcag/h30": "off",
			"require-sri": "off", "attribute-boolean-style": "off", "no-raw-characters": "off" },
	});
	const report = await validator.validateString(fs.readFileSync(file, "utf8"), name);
	const said = report.results.flatMap((r) => r.messages).map((m) => `${m.line}:${m.column} ${m.ruleId}: ${m.message}`);
	ok(report.valid, `${name}: valid HTML`, said);
}

async function main() {
	const dir = fs.mkdtempSync(path.join(os.tmpdir(), "kvmortem-browser-"));
	const browser = await puppeteer.launch({
		executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
		userDataDir: path.join(dir, "profile"),
	});
	try {
		const files = {};
		for (const name of CASES) {
			files[name] = path.join(dir, name + ".html");
			execFileSync(KVMORTEM, ["fixtures/captures/" + name, "-o", files[name]], { stdio: "ignore" });
			await testEach(browser, name, files[name], /^[BDA]/.test(name));
			await testValid(name, files[name]);
		}
		await testTimeline(browser, files["D-minshares-6.1"]);
		await testChains(browser, files["D-minshares-6.1"]);
		await testChains(browser, files["C-createvm-6.1-default"]);
		await testTheme(browser, files["B-root-churn-tdp1-prefix-kvm"]);
		await testWithoutScript(browser, files["B-root-churn-tdp1-prefix-kvm"]);
		await testPrint(browser, files["B-root-churn-tdp1-prefix-kvm"]);
	} finally {
		await browser.close();
		fs.rmSync(dir, { recursive: true, force: true });
	}
	console.log(`1..${number}`);
	process.exitCode = failed ? 1 : 0;
}

main().catch((e) => {
	console.log(`not ok ${number + 1} - the tests ended early\n# ${e.stack.replace(/\n/g, "\n# ")}`);
	process.exitCode = 1;
});
