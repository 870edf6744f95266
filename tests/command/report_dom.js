"use strict";
/* node report_dom.js PAGE.html: runs the page's script on a document that is just enough for it, and prints what the script has made. */
const text = require("fs").readFileSync(process.argv[2], "utf8");
const between = (from, to) => text.slice(text.indexOf(from) + from.length, text.indexOf(to, text.indexOf(from)));
const escape = (words) => words.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

class Element {
    constructor(name) {
        [this.name, this.attributes, this.children] = [name, new Map(), []];
    }
    setAttribute(key, value) {
        if (!/^[a-zA-Z0-9-]+$/.test(key)) throw new Error(`an attribute ${key}`);
        this.attributes.set(key, String(value));
    }
    append(child) {
        this.children.push(child);
    }
    toString() {
        const attributes = [...this.attributes].map(([key, value]) => ` ${key}="${escape(value)}"`);
        const children = this.children.map((child) => (child instanceof Element ? String(child) : escape(child)));
        return `<${this.name}${attributes.join("")}>${children.join("")}</${this.name}>`;
    }
}

const main = new Element("main"), records = {textContent: between('id="records">', "</script>")};
const document = {createElementNS: (space, name) => new Element(name), getElementById: (id) => ({page: main, records})[id]};
new Function("document", between("<script>", "</script>"))(document);
process.stdout.write(String(main));
