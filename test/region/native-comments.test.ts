/** Each function that C, C++, Fortran and Python programs call has a comment: what it does, its units, its errors. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const NATIVE = fileURLToPath(new URL('../../native', import.meta.url));
const HEADERS = readdirSync(NATIVE, { recursive: true, encoding: 'utf8' }).filter((path) =>
  /^triscope_region\.h$|^geopm\/.*\.h(pp)?$/.test(path),
);

interface Told {
  readonly name: string;
  /** The comment; '' without one. */
  readonly comment: string;
  /** Its parameters and what it returns; of Python its lines. */
  readonly declared: string;
}

/** Functions of a C or C++ header, members of classes too, each with the comment right above it. */
function* ofHeader(text: string): Generator<Told> {
  const lines = text.split('\n');
  let isPrivate = false;
  for (const [at, line] of lines.entries()) {
    if (/^class |^\s+public:/.test(line)) isPrivate = false;
    if (/^\s+private:/.test(line)) isPrivate = true;
    const name = /^(?: {4})?(?:[\w:]+[ *&]+)+(\w+)\([^=]*[;{}]$/.exec(line)?.[1];
    if (name === undefined || isPrivate || /^\s+(return|checked|else|if|for)\b/.test(line))
      continue;
    if (/^ {4}/.test(line) && !lines.slice(0, at).some((l) => l.startsWith('class '))) continue;
    const above = lines.slice(0, at).join('\n');
    const comment = /\/\*(?:(?!\*\/)[\s\S])*\*\/$/.exec(above)?.[0] ?? '';
    yield { name, comment, declared: line };
  }
}

/** Functions of a Fortran module's interface. */
function* ofFortran(text: string): Generator<Told> {
  for (const [all, comment, name] of text.matchAll(
    /^((?: +!.*\n)*) +function (\w+)[\s\S]*?end function/gm,
  )) {
    yield { name: name as string, comment: comment as string, declared: all };
  }
}

/** Functions and methods of a Python module that programs call, each with its docstring. */
function* ofPython(text: string): Generator<Told> {
  const blocks = text.split(/^(?=(?: {4})?(?:def|class) )/m);
  let isPublic = false;
  for (const block of blocks) {
    const [, indent, kind, name = ''] = /^( {4})?(def|class) (\w+)/.exec(block) ?? [];
    if (indent === undefined) isPublic = kind === 'class' && !name.startsWith('_');
    const isCalled = /^(?!_)|^__\w+__$/.test(name) && kind === 'def';
    if (!isCalled || (indent !== undefined && !isPublic)) continue;
    const comment = /^.*:\n\s+"""([\s\S]*?)"""/.exec(block)?.[1] ?? '';
    yield { name, comment, declared: block };
  }
}

/** What a comment lacks. */
function lacking({ name, comment, declared }: Told): string[] {
  const misses = (what: string, where: RegExp, says: RegExp) =>
    where.test(declared) && !says.test(comment) ? [`${name}: ${what}`] : [];
  if (comment === '') return [`${name}: no comment`];
  return [
    ...misses('the unit of a number', /\bdouble\b|c_double/, /seconds|fraction/),
    ...misses('what the count counts', /uint32_t|int32_t\b.*num|\bunits\b/, /units?\b/),
    ...misses('the error', /\braise \w+/, /Raises \w+/),
    ...(/^geopm_prof_(region|enter|exit)$/.test(name)
      ? misses('the errors', /./, /-[13]|GEOPM_ERROR/)
      : []),
  ];
}

describe('functions of other languages are told', () => {
  it.each(HEADERS)('%s', (path) => {
    const all = [...ofHeader(readFileSync(join(NATIVE, path), 'utf8'))];
    const silent = /geopm(_hint|_public)?\.h$/.test(path);
    expect(all.length > 0).toBe(!silent);
    expect(all.flatMap(lacking)).toEqual([]);
  });

  it('triscope_region.h has them all', () => {
    const names = [...ofHeader(readFileSync(join(NATIVE, 'triscope_region.h'), 'utf8'))];
    expect(names.map(({ name }) => name)).toEqual([
      ...['region', 'enter', 'exit', 'epoch', 'work', 'work_done', 'start', 'stop', 'rank'].map(
        (name) => `triscope_${name}`,
      ),
      ...['region', 'enter', 'exit', 'epoch', 'shutdown', 'overhead'].map(
        (name) => `geopm_prof_${name}`,
      ),
      ...['geopm_tprof_init', 'geopm_tprof_post'],
    ]);
  });

  it('geopm_prof.f90', () => {
    const all = [...ofFortran(readFileSync(join(NATIVE, 'geopm_prof.f90'), 'utf8'))];
    expect(all.length).toBe(8);
    expect(all.flatMap(lacking)).toEqual([]);
  });

  it('triscope_region.py', () => {
    const all = [...ofPython(readFileSync(join(NATIVE, 'triscope_region.py'), 'utf8'))];
    expect(all.map(({ name }) => name)).toEqual([
      ...['__init__', 'enter', 'exit', '__enter__', '__exit__', '__call__'],
      ...['region', 'epoch', 'tprof_init', 'tprof_post', 'shutdown'],
    ]);
    expect(all.flatMap(lacking)).toEqual([]);
  });

  it('what lacks is said', () => {
    const header = '/* Waits. */\nvoid wait_for(double time);\n\nint bare(void);\n';
    expect([...ofHeader(header)].flatMap(lacking)).toEqual([
      'wait_for: the unit of a number',
      'bare: no comment',
    ]);
    const python = 'def a(b):\n    """Does a."""\n    raise ValueError(b)\n\ndef c():\n    pass\n';
    expect([...ofPython(python)].flatMap(lacking)).toEqual(['a: the error', 'c: no comment']);
    expect([...ofFortran('    function f() bind(C)\n    end function\n')].flatMap(lacking)).toEqual(
      ['f: no comment'],
    );
  });
});
