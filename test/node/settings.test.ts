/** What the collector is told: configuration, jobs, the host's name. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ConfigError,
  DEFAULT_CONFIG,
  domainsIn,
  fullHostname,
  fullNameIn,
  idsIn,
  isJobId,
  JobList,
  jobsNow,
  NodeTree,
  parseConfig,
  readConfig,
  usualConfig,
} from 'triscope/node';
import { afterAll, describe, expect, it } from 'vitest';
import { treeOf } from './support/raw.ts';

const here = mkdtempSync(join(tmpdir(), 'triscope-settings-'));
afterAll(() => rmSync(here, { recursive: true }));

describe('the configuration file of tacc_stats', () => {
  it('is read as it is: blanks, colons, tabs or = after the name', () => {
    const text =
      'server broker.example\nqueue:\tcluster\n\nport=5673\nfreq : 30\nbuffer = 12 # few\n';
    expect(parseConfig(text, 'conf')).toEqual({
      server: 'broker.example',
      queue: 'cluster',
      port: 5673,
      freq: 30,
      buffer: 12,
    });
  });

  it('may have large letters, as from 2.3 to 2.3.4', () => {
    expect(parseConfig('SERVER broker.example\nFREQ 300', 'conf')).toMatchObject({
      server: 'broker.example',
      freq: 300,
    });
  });

  it('need not be there', () => {
    const places = ['newest', 'newer', 'old'].map((name) => join(here, name));
    expect(usualConfig(places)).toEqual(DEFAULT_CONFIG);
    writeFileSync(places[2], 'FREQ=45\n');
    expect(usualConfig(places).freq).toBe(45);
    writeFileSync(places[1], 'freq   50\n');
    expect(usualConfig(places).freq).toBe(50);
  });

  it('may say frequency, which 2.3.5 reads instead', () => {
    expect(parseConfig('frequency 0.5', 'conf').freq).toBe(0.5);
    expect(parseConfig('', 'conf')).toEqual(DEFAULT_CONFIG);
    expect(DEFAULT_CONFIG.freq).toBe(600);
  });

  it.each([
    ['freq x', 'conf: line 1: freq x: must be a number'],
    ['\nport 0', 'conf: line 2: port 0: must be a number from 1 to 65535'],
    ['queue a b', 'conf: line 1: queue takes one value'],
    ['server', 'conf: line 1: server takes one value'],
    ['frq 5', 'conf: line 1: there is no setting frq'],
  ])('%j is refused, with its line', (text, message) => {
    expect(() => parseConfig(text, 'conf')).toThrow(ConfigError);
    expect(() => parseConfig(text, 'conf')).toThrow(message);
  });

  it('is named where it cannot be read', () => {
    expect(() => readConfig(join(here, 'none'))).toThrow(
      /none: cannot be read: there is no such file or folder/,
    );
  });
});

describe('jobs', () => {
  it('are the first word of the job-id file, by commas; - and 0 are none', () => {
    expect(idsIn('4001,4002 more\nlines')).toEqual(['4001', '4002']);
    expect(idsIn('12_3\n')).toEqual(['12_3']);
    for (const none of ['', ' \n', '-', '0', '0\n']) expect(idsIn(none)).toEqual([]);
  });

  it('have ids that can stand in a line', () => {
    for (const id of ['1', '1_2', '1+0', 'a.b[3]']) expect(isJobId(id)).toBe(true);
    for (const id of ['', 'a b', '1,2', 'a\nb', 'a\u0000']) expect(isJobId(id)).toBe(false);
  });

  it('are listed from begin to end, on a node with several', () => {
    const list = new JobList(join(here, 'jobs'));
    list.add('1');
    list.add('2');
    list.add('1');
    expect(jobsNow(list, ['2', '3'])).toEqual(['1', '2', '3']);
    list.remove('1');
    list.remove('7');
    expect(new JobList(join(here, 'jobs')).read()).toEqual(['2']);
  });

  it('are one alone where it begins so: the end of the others was missed', () => {
    const list = new JobList(join(here, 'only'));
    for (const id of ['1', '2']) list.add(id);
    list.add('3', true);
    expect(list.read()).toEqual(['3']);
    list.add('4');
    list.add('4', true);
    expect(list.read()).toEqual(['4']);
  });

  it('of before the machine was started again are gone', () => {
    const list = new JobList(join(here, 'stale'));
    list.add('3');
    const before = '00000000-0000-4000-8000-000000000000.1';
    writeFileSync(join(here, 'stale', before), '');
    writeFileSync(join(here, 'stale', 'note'), '');
    expect(list.read()).toEqual(['3']);
    list.add('4/5');
    expect(list.read()).toEqual(['3', '4/5']);
    // What is no job's is left alone.
    const names = readdirSync(join(here, 'stale'));
    expect([names.includes(before), names.includes('note')]).toEqual([false, true]);
  });
});

describe('the full host name', () => {
  const HOSTS =
    '127.0.0.1 localhost\n10.0.0.1 c1 c1.cluster.example # c1.wrong\n10.0.0.2 c2.x c2\n';

  it('comes from the hosts file, wherever in its line it stands', () => {
    expect(fullNameIn(HOSTS, 'c1')).toBe('c1.cluster.example');
    expect(fullNameIn(HOSTS, 'c2')).toBe('c2.x');
    expect(fullNameIn(HOSTS, 'c3')).toBeNull();
  });

  it('has the domains of resolv.conf to try', () => {
    expect(domainsIn('nameserver 1.1.1.1\nsearch a.example  b.example\n')).toEqual([
      'a.example',
      'b.example',
    ]);
    expect(domainsIn('nameserver 1.1.1.1\n')).toEqual([]);
  });

  it('is the short one where nothing says more', async () => {
    const root = treeOf(join(here, 'tree'), 1, 'c7');
    expect(await fullHostname(new NodeTree(root))).toBe('c7');
  });
});
