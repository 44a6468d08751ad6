/** Runs what a tutorial shows, and holds what is printed against what it shows. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Room } from './project.ts';

export interface Step {
  readonly command: string;
  /** Lines that follow it in the document. */
  readonly shown: readonly string[];
}

/** Steps of a document in order; a file that it tells the reader to save is one whose name is followed by its text. */
export function* stepsOf(text: string): Generator<Step | { readonly file: string; text: string }> {
  const blocks = /(?:Save this as `([\w.]+)`:\n\n)?^```(\w*)\n(.*?)^```$/gms;
  for (const [, file, language, block = ''] of text.matchAll(blocks)) {
    if (file !== undefined) yield { file, text: block };
    else if (language === '') {
      for (const part of block.split(/^\$ /m).slice(1)) {
        const [command = '', ...shown] = part.replace(/\n$/, '').split('\n');
        yield { command, shown };
      }
    }
  }
}

/**
 * A pattern of what is shown: `…` is any text within a line, a line of `…` alone any lines, none too. How wide columns
 * are set may differ, as widths of values do.
 */
export function patternOf(shown: readonly string[]): RegExp {
  const lines = shown.map((line) =>
    line === '…'
      ? '(?:[^\n]*\n)*?'
      : `[ \t]*${line
          .trim()
          .split('…')
          .map((part) =>
            part.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&').replaceAll(/ {2,}/g, ' +'),
          )
          .join('[^\n]*')}[ \t]*\n`,
  );
  return new RegExp(`^${lines.join('')}$`);
}

/** Does what the document says in an empty home; gives each step whose output is not what it shows. */
export function follow(text: string, room: Room): string[] {
  const wrong: string[] = [];
  let folder = '';
  for (const step of stepsOf(text)) {
    if ('file' in step) {
      writeFileSync(join(room.home, folder, step.file), step.text);
      continue;
    }
    const { command, shown } = step;
    if (command.startsWith('cd ')) {
      folder = join(folder, command.slice(3));
      continue;
    }
    const { status, stdout, stderr } = room.run(command, folder);
    // What a finding says, and that a job is short, goes to stderr: a tutorial shows stdout.
    const right = command.startsWith('timeout ') || command.endsWith('2>&1') || status === 0;
    const said = stdout === '' || stdout.endsWith('\n') ? stdout : `${stdout}\n`;
    if (!right || !patternOf(shown).test(said)) {
      wrong.push(`$ ${command}\nexit ${status}\n${said}${stderr}\nshown:\n${shown.join('\n')}`);
    }
  }
  return wrong;
}
