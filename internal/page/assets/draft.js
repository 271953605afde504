// What was decided about a proposal but is not sent yet. It is kept for the tab, so
// a reload or a lost connection loses nothing.

const key = (id) => `quarry.review.${id}`;

export function keptDraft(id) { try { return JSON.parse(sessionStorage.getItem(key(id))); } catch { return null; } }

export class Draft {
  // sizes are the numbers of hunks of each file.
  constructor(proposal, sizes) {
    this.id = proposal.id;
    const kept = keptDraft(proposal.id);
    const fits = kept?.made === proposal.made && kept.verdicts.length === sizes.length && kept.verdicts.every((v, i) => v.length === sizes[i]);
    Object.assign(this, fits ? kept : { made: proposal.made, verdicts: sizes.map((k) => Array(k).fill("")), comments: sizes.map((k) => Array(k).fill("")), comment: "", viewed: [] });
    this.whole = proposal.whole; // all hunks have the same verdict
  }

  save() {
    const { made, verdicts, comments, comment, viewed } = this;
    try { sessionStorage.setItem(key(this.id), JSON.stringify({ made, verdicts, comments, comment, viewed })); } catch { /* kept in memory only */ }
  }

  forget() { sessionStorage.removeItem(key(this.id)); }

  // set gives a hunk a verdict; the same again takes it away.
  set(i, j, verdict) {
    const now = this.verdicts[i][j] === verdict ? "" : verdict;
    if (this.whole) this.verdicts = this.verdicts.map((v) => v.map(() => now)); else this.verdicts[i][j] = now;
    this.save();
    return now;
  }

  setFile(i, verdict) {
    if (this.whole) this.verdicts = this.verdicts.map((v) => v.map(() => verdict)); else this.verdicts[i] = this.verdicts[i].map(() => verdict);
    this.save();
  }

  // rest is for the hunks without a verdict, all for every one.
  rest(verdict) { this.verdicts = this.verdicts.map((v) => v.map((x) => x || verdict)); this.save(); }

  all(verdict) { this.verdicts = this.verdicts.map((v) => v.map(() => verdict)); this.save(); }

  setViewed(i, on) {
    this.viewed = this.viewed.filter((x) => x !== i);
    if (on) this.viewed.push(i);
    this.save();
  }

  // undecided is the first hunk without a verdict, from one on and then from the
  // top; -1 if there is none.
  undecided(from) {
    const all = this.verdicts.flat(), k = all.findIndex((v, i) => i >= from && !v);
    return k < 0 ? all.findIndex((v) => !v) : k;
  }

  // tally counts; rest is what becomes of the hunks without a verdict.
  tally(rest = "") {
    const flat = this.verdicts.flat().map((v) => v || rest), of = (x) => flat.filter((v) => v === x).length;
    return { yes: of("accept"), no: of("refuse"), left: of(""), files: this.verdicts.filter((v) => v.some((x) => (x || rest) === "accept")).length, comments: this.comments.flat().filter(Boolean).length + (this.comment ? 1 : 0) };
  }

  // body is the decision as it is sent: most hunks have the verdict of the rest.
  body(confirm) {
    const t = this.tally(), rest = t.yes > t.no ? "accept" : "refuse";
    const short = (rows, empty) => {
      const cut = rows.map((row) => row.slice(0, row.findLastIndex((x) => !empty(x)) + 1).map((x) => (empty(x) ? "" : x)));
      return cut.slice(0, cut.findLastIndex((row) => row.length) + 1);
    };
    return { rest, hunks: short(this.verdicts, (v) => v === rest), comment: this.comment, comments: short(this.comments, (c) => !c), confirm };
  }
}
