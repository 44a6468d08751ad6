/** Writes what is generated from declarations into a page of docs, between the marks of the script that makes it. */
import { readFileSync, writeFileSync } from 'node:fs';

/** @param script its file name, which is in the marks; @throws Error if the page has no such marks */
export function writeMade(script, path, text) {
  const page = new URL(`../docs/${path}`, import.meta.url);
  const [begin, end] = ['begin', 'end'].map(
    (mark) => `<!-- made by scripts/${script}: ${mark} -->`,
  );
  const old = readFileSync(page, 'utf8');
  const [from, to] = [old.indexOf(begin), old.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${path} has no lines ${begin} and ${end}`);
  writeFileSync(page, `${old.slice(0, from)}${begin}\n\n${text}\n\n${old.slice(to)}`);
}
