// Rendered Markdown, and images. The server sends elements, and only those listed here
// are made, with the few attributes below: no markup of a file is parsed.

import { request } from "./api.js";
import { h, realPath, safe } from "./dom.js";

const tags = new Set(["article", "p", "h1", "h2", "h3", "h4", "h5", "h6", "em", "strong", "del", "code", "pre", "a", "img", "ul", "ol", "li", "blockquote", "table", "tr", "th", "td", "hr", "br"]);

// build makes the nodes of one element. where is the address of a file.
export function build(node, where) {
  if (typeof node === "string") return safe(node);
  const [tag, attrs, ...children] = node;
  if (!tags.has(tag)) return children.flatMap((c) => build(c, where));
  const inside = children.flatMap((c) => build(c, where));
  if (tag === "img") return [image(attrs.file, inside.map((x) => x.textContent).join(""))];
  if (tag === "a") return [link(attrs ?? {}, inside, where)];
  return [h(tag, tag === "ol" ? { start: attrs.start } : tag === "pre" ? { tabindex: "0" } : null, inside)];
}

function link({ file, href }, inside, where) {
  if (file) return h("a", { href: where(file), title: realPath(file) }, inside);
  if (/^(https?|mailto):/i.test(href ?? "")) return h("a", { href, rel: "noopener noreferrer", target: "_blank", title: href }, inside);
  return h("span", null, inside);
}

// image loads one of the workspace. Its bytes are a blob, which can't be asked for
// without the token, as long as it is drawn.
export function image(path, alt = "") {
  const el = h("img", { alt: alt || realPath(path) });
  request("/api/image", { path }).then((res) => res.blob()).then((blob) => {
    const url = URL.createObjectURL(blob);
    el.onload = () => { el.title = `${el.naturalWidth} × ${el.naturalHeight}`; URL.revokeObjectURL(url); };
    el.onerror = () => { URL.revokeObjectURL(url); el.replaceWith(h("span", { class: "dim" }, `${realPath(path)} is no image that this browser shows`)); };
    el.src = url;
  }, (e) => el.replaceWith(h("span", { class: "dim" }, `${realPath(path)}: `, safe(e.message))));
  return el;
}
