/** What is printed steers no terminal, whatever names and values files have; and CSV runs nothing in a spreadsheet. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { lineFor } from '../../src/cli/errors.ts';
import { guarded, guardTerminals, harmless, oneLine, steering } from '../../src/cli/terminal.ts';
import { csvText } from '../../src/model/csv.ts';
import { BIN, temporaryFolder, triscopeHere } from './support/run.ts';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const folder = temporaryFolder();

/** ESC, CSI of 8 bits, BEL, DEL, right-to-left override, isolate, line separator. */
const NASTY = '\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\u202e\u2066\u2028\r';
const SHOWN = '\\x1b]0;owned\\x07\\x1b[2J\\x9b31m\\x7f\\u{202e}\\u{2066}\\u{2028}\\x0d';

/** A report whose region, profile and host are `name`, in YAML that may hold anything. */
function reportOf(name: string): string {
  const quoted = JSON.stringify(name).replaceAll('\x7f', '\\x7f').replaceAll('\x9b', '\\x9b');
  return `GEOPM Version: 3.1.0\nStart Time: Tue Nov 08 09:48:07 2022\nProfile: ${quoted}\nAgent: monitor\nPolicy: {}\n\nHosts:\n  ${quoted}:\n    Regions:\n    -\n      region: ${quoted}\n      hash: 0x00000001\n      runtime (s): 1.5\n      count: 1\n    Application Totals:\n      runtime (s): 2.5\n`;
}

/** A colour's end and beginning, which are ours. */
const OURS = new RegExp(`${String.fromCharCode(27)}\\[(?:0|1|2|31|32)m`, 'g');

/** What steers in a text. */
const steers = (text: string) =>
  text.replaceAll(OURS, '').match(/[^\P{Cc}\t\n]|\p{Bidi_Control}/gu);

describe('text for a terminal', () => {
  it('shows what would steer it', () => {
    expect(harmless(`a\n\t${NASTY}é😀`)).toBe(`a\n\t${SHOWN}é😀`);
    expect(oneLine('a\nb\tc')).toBe('a\\x0ab\\x09c');
    expect(lineFor(new Error(`a\n${NASTY}`))).toBe(
      `triscope: unexpected: a ${SHOWN.replace('\\u{2028}\\x0d', ' ')}`,
    );
  });

  it('has the sequences that we wrote, and no others', () => {
    const script = `
      const { guardTerminals, steering, guarded } = await import(${JSON.stringify(MAIN.replace('main.js', 'terminal.js'))});
      guardTerminals();
      process.stderr.write(steering('\\x1b[31m') + 'a\\x1b[31mb' + steering('\\x1b[0m') + '\\n');`;
    const said = spawnSync(process.execPath, ['--input-type=module', '-e', script]).stderr;
    expect(said.toString()).toBe('\x1b[31ma\\x1b[31mb\x1b[0m\n');
    expect([guarded('\x1b'), steering('\x1b')]).toEqual(['\x1b', '\x1b']);
    expect(guardTerminals).toBeTypeOf('function');
  });
});

describe('on a terminal', () => {
  const path = join(folder, `na\nme ${NASTY.slice(0, 12)}.report`);
  writeFileSync(path, reportOf(`x${NASTY}\n=1`));
  const recording = join(folder, 'r.tri');
  mkdirSync(recording);
  writeFileSync(
    join(recording, 'recording.json'),
    JSON.stringify({
      version: 1,
      state: 'failed',
      error: NASTY,
      started: NASTY,
      madeBy: { program: 'triscope', version: '0', command: ['sim', NASTY] },
      hosts: [{ name: NASTY, cpus: 1 }],
      pes: [],
      sources: [],
    }),
  );

  it.each([
    ['info', path],
    ['info', recording],
    ['read', path],
    ['report', path],
    ['query', path, 'SELECT * FROM geopm_region'],
    ['diff', path, path],
    ['info', join(folder, `none${NASTY}`)],
    [NASTY],
  ])('triscope %s steers nothing', (...args) => {
    const script = `
      process.stdout.isTTY = true;
      process.stderr.isTTY = true;
      const { runCommandLine } = await import(${JSON.stringify(MAIN)});
      await runCommandLine(${JSON.stringify(args)});`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      env: { ...process.env, NO_COLOR: '', TERM: 'xterm', COLUMNS: '' },
    });
    expect(stdout.length + stderr.length).toBeGreaterThan(10);
    expect([stdout, stderr].map((text) => steers(text.toString()))).toEqual([null, null]);
  });

  it('a line is a line: names do not break tables', async () => {
    const { out } = await triscopeHere(['info', path]);
    expect(out.split('\n').filter((line) => line.startsWith('  what'))).toHaveLength(1);
    expect(out.split('\n')[0]).toContain('na\\x0ame');
  });

  it('messages are safe where they are piped too', () => {
    const { stderr } = spawnSync(process.execPath, [BIN, 'info', join(folder, `none${NASTY}`)]);
    expect(steers(stderr.toString())).toBeNull();
  });

  it('data that is piped is as it is', () => {
    const out = execFileSync(process.execPath, [BIN, 'read', '--csv', path]).toString();
    expect(out).toContain('\x1b]0;owned');
  });
});

describe('CSV', () => {
  it.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-cmd', "'-cmd"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\tx', "'\tx"],
    ['\r=1', `"'\r=1"`],
    ['a=1', 'a=1'],
    ['', ''],
  ])('quotes %j, where asked', (text, quoted) => {
    expect(csvText(text, 'quote')).toBe(quoted);
    expect(csvText(text)).toBe(text.includes('\r') ? `"${text}"` : text);
  });

  it('of read, query and export runs nothing with --quote-formulas; numbers stay', async () => {
    const path = join(folder, 'formula.report');
    writeFileSync(path, reportOf('=1+1'));
    const rows = ['read', path, '--csv', '--quote-formulas'];
    expect((await triscopeHere(rows)).out).toMatch(/,'=1\+1,/);
    const sql =
      "SELECT region, -1.5::DOUBLE AS x, '@a' AS \"=b\" FROM geopm_region WHERE region = '=1+1'";
    const query = await triscopeHere(['query', path, sql, '--csv', '--quote-formulas']);
    expect(query.out).toBe("region,x,'=b\n'=1+1,-1.5,'@a\n");
    expect((await triscopeHere(['query', path, sql, '--csv'])).out).toBe(
      'region,x,=b\n=1+1,-1.5,@a\n',
    );
    const args = ['export', path, '--to', 'csv', '-o', join(folder, 'x.csv'), '--sql', sql];
    expect((await triscopeHere([...args, '--quote-formulas'])).code).toBe(0);
    expect(execFileSync('cat', [join(folder, 'x.csv')]).toString()).toContain("'=1+1,-1.5,'@a");
  });
});
