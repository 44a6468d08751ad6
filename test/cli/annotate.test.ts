/** `triscope annotate`: notes in a recording's folder, what reads them, and files of notes that cannot be. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSeries } from 'triscope/live';
import { openRecording } from 'triscope/query';
import { describe, expect, it } from 'vitest';
import { checkNotes, MOST_NOTES } from '../../src/model/note.ts';
import {
  NOON,
  nanoseconds,
  rawStats,
  recordingOf,
  writeFolder,
} from '../query/support/recording.ts';
import { temporaryFolder, triscope, triscopeHere } from './support/run.ts';

const folder = temporaryFolder();
let made = 0;
/** A recording of one host, with a mark 2 s after its start. */
const fresh = () =>
  writeFolder(join(folder, `${++made}.tri`), {
    'recording.json': recordingOf({
      sources: [
        {
          ...{ name: 'node', zero: nanoseconds(NOON), droppedBytes: 0 },
          files: [{ path: `node/h1/${NOON}`, format: 'tacc' }],
        },
      ],
    }),
    [`node/h1/${NOON}`]: `${rawStats('h1', [{ time: NOON, cpus: [{}] }])}${NOON + 2} 7\n%phase two\n`,
  });
const annotate = (...words: string[]) => triscopeHere(['annotate', ...words]);

describe('triscope annotate', () => {
  it('keeps all notes of several that are made at once', async () => {
    const path = fresh();
    const texts = ['one', 'two', 'three', 'four'];
    const runs = await Promise.all(
      texts.map((text, k) => triscope(['annotate', path, String(k), text])),
    );
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    expect((await annotate(path)).out.split('\n').slice(0, 4)).toEqual(
      texts.map((text, k) => `${k + 1}\t${k} s\t${text}`),
    );
  });

  it('keeps notes by time, which SQL, reports and the page have; removes them', async () => {
    const path = fresh();
    expect((await annotate(path, '3', 'backup', '--until=4.5')).out).toBe(
      '1\t3 to 4.5 s\tbackup\n',
    );
    const { code, out } = await annotate(path, '1.5', 'file server', '<b>restarted</b>', '--json');
    const notes = [
      { time: 1.5, text: 'file server <b>restarted</b>' },
      { time: 3, until: 4.5, text: 'backup' },
    ];
    expect([code, JSON.parse(out)]).toEqual([0, notes]);
    expect(JSON.parse(readFileSync(join(path, 'notes.json'), 'utf8'))).toEqual(notes);
    expect((await annotate(path)).out.split('\n')[1]).toBe('2\t3 to 4.5 s\tbackup');
    const recording = await openRecording(path);
    expect(await recording.query('FROM note ORDER BY t')).toEqual([
      { t: 1.5, t1: null, text: 'file server <b>restarted</b>' },
      { t: 3, t1: 4.5, text: 'backup' },
    ]);
    expect(recording.suspects).toEqual([]);
    await recording.close();
    const series = await openSeries(path);
    expect(series.facts.flags?.map(({ kind, from, to, text }) => [kind, from, to, text])).toEqual([
      ['note', 1.5, null, 'file server <b>restarted</b>'],
      ['mark', 2, null, 'h1: phase two'],
      ['note', 3, 4.5, 'backup'],
    ]);
    series.close();
    const report = await triscopeHere(['report', path]);
    expect(report.out).toMatch(/^Notes\n.*\n +1\.5 .*file server/m);
    expect((await triscopeHere(['info', path, '--verify'])).out).not.toContain('notes.json');
    expect((await annotate(path, '--remove=1', '--json')).out).toBe(
      `${JSON.stringify([notes[1]])}\n`,
    );
    await annotate(path, '--remove=1');
    expect(existsSync(join(path, 'notes.json'))).toBe(false);
  });

  it('refuses what cannot be a note, and changes nothing then', async () => {
    const path = fresh();
    const wrong = [
      ['soon', 'x'],
      ['', 'x'],
      ['1'],
      ['1', ' '],
      ['1', 'a\u001b[2Jb'],
      ['1', 'x'.repeat(501)],
      ['1', 'x', '--until=1'],
      ['--remove=1'],
      ['--until=2'],
    ];
    for (const words of wrong)
      expect([words, (await annotate(path, ...words)).code]).toEqual([words, 2]);
    expect(existsSync(join(path, 'notes.json'))).toBe(false);
    const none = await annotate(folder, '1', 'x');
    expect([none.code, none.err]).toEqual([3, expect.stringContaining('not a recording’s folder')]);
  });
});

describe('notes.json', () => {
  it.each([
    ['not JSON', '[', 'not JSON'],
    ['no list', '{}', 'must be a list'],
    ['no note', '[3]', 'note 1: time'],
    ['a time as text', '[{"time":"1","text":"x"}]', 'note 1: time'],
    ['control characters', '[{"time":1,"text":"a\\u0007"}]', 'note 1: text'],
    ['an end before the beginning', '[{"time":1,"until":0,"text":"x"}]', 'note 1: until'],
  ])('that is damaged is said, and the recording opens: %s', async (_, text, what) => {
    const path = fresh();
    writeFileSync(join(path, 'notes.json'), text);
    const { facts, close } = await openSeries(path);
    expect(
      facts.notes.filter((note) => note.includes(`notes.json: cannot be read: ${what}`)),
    ).toHaveLength(1);
    close();
    const { code, err } = await annotate(path, '1', 'x');
    expect([code, err]).toEqual([3, expect.stringContaining('notes.json')]);
    expect(readFileSync(join(path, 'notes.json'), 'utf8')).toBe(text);
  });

  it('has no more notes than a page can show', () => {
    const many = (count: number) => Array.from({ length: count }, () => ({ time: 1, text: 'x' }));
    expect(checkNotes(many(MOST_NOTES))).toHaveLength(MOST_NOTES);
    expect(() => checkNotes(many(MOST_NOTES + 1))).toThrow('at most');
  });
});
