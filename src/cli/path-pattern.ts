/** Paths given as a pattern that no shell has expanded: `'runs/*.tri'`. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const SPECIAL = /[.+^${}()|[\]\\]/g;

/** Tests a name against a part of a pattern: `*` matches any text, `?` any character; hidden names need a literal dot. */
function nameTest(part: string): (name: string) => boolean {
  const text = part.replace(SPECIAL, '\\$&').replaceAll('*', '.*').replaceAll('?', '.');
  const whole = new RegExp(`^${text}$`, 'su');
  return (name) => whole.test(name) && (part.startsWith('.') || !name.startsWith('.'));
}

/** The paths that match a pattern, in the order of their names; the word itself if it is no pattern, or matches nothing. */
export function pathsOf(word: string): readonly string[] {
  if (!/[*?]/.test(word) || existsSync(word)) return [word];
  let found: readonly string[] = [word.startsWith('/') ? '/' : ''];
  for (const part of word.split('/').filter((one) => one !== '')) {
    found = found.flatMap((folder) => {
      if (!/[*?]/.test(part)) return existsSync(join(folder, part)) ? [join(folder, part)] : [];
      const matches = nameTest(part);
      try {
        return readdirSync(folder || '.')
          .filter(matches)
          .sort()
          .map((name) => join(folder, name));
      } catch {
        return [];
      }
    });
  }
  return found.length === 0 ? [word] : found;
}
