/** Who sees whose jobs: users their own, operators all; and what is shown of an archive that is too large to be drawn. */
import { spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LiveServer, startServer } from 'triscope/live';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openArchive, readAccounting, updateIndex } from '../../src/findings/job/index.ts';
import { Users } from '../../src/live/net/users.ts';
import type {
  HostDaysFacts,
  JobListFacts,
  JobPageFacts,
  JobSumsFacts,
} from '../../src/view/facts/jobs.ts';
import type { ServedFacts } from '../../src/view/facts/served.ts';
import { EVENTS_PATH } from '../../src/view/message.ts';
import { ask, json } from './support/ask.ts';
import { cluster } from './support/cluster.ts';

const ADA = 'the-token-of-ada';
const GRACE = 'the-token-of-grace';
const folder = mkdtempSync(join(tmpdir(), 'own-jobs-'));
const users = join(folder, 'users');
/** Job 7 is ada’s, on all three hosts; 8 is bob’s, on two of them. */
const archive = cluster(3);
const indexed = join(folder, 'indexed');
cpSync(archive, indexed, { recursive: true });

const tell = (mode: number, ...lines: readonly string[]) =>
  writeFileSync(users, `# who sees what\n${lines.join('\n')}\n`, { mode });
tell(0o600, `ada ${ADA}`, `grace ${GRACE} all`);

let server: LiveServer;
beforeAll(async () => {
  const accounted = readAccounting(join(indexed, 'accounting')).jobs;
  await updateIndex(openArchive(indexed), { accounted });
  server = await startServer({ recordings: [archive, indexed], users });
});
afterAll(async () => {
  await server.close();
  for (const path of [folder, archive]) rmSync(path, { recursive: true, force: true });
});

const as = (token: string) => ({ known: false, headers: { Authorization: `Bearer ${token}` } });
async function get<T>(token: string, path: string, of = 0): Promise<{ status: number; said: T }> {
  const found = await json<{ id: string }[]>(server.port, '/api/recordings');
  const more = `${path.includes('?') ? '&' : '?'}recording=${found[of].id}`;
  const { status, body } = await ask(server.port, `/api/${path}${more}`, as(token));
  return { status, said: JSON.parse(String(body)) as T };
}

describe('a user', () => {
  it.each([
    ['files', 0],
    ['index', 1],
  ])('sees own jobs alone, by the %s of an archive', async (_, of) => {
    const ids = async (token: string, query = '') => {
      const { said } = await get<JobListFacts>(token, `jobs${query}`, of);
      return [said.total, ...said.jobs.map(({ id }) => id)];
    };
    expect(await ids(ADA)).toEqual([1, '7']);
    expect(await ids(GRACE)).toEqual([2, '8', '7']);
    expect(await ids(GRACE, '?words=bob%20debug')).toEqual([2, '8']);
    expect(await ids(GRACE, '?flag=low-cpu&most=1')).toEqual([2, '7']);
    // A condition that looks elsewhere finds nothing else there.
    const sly = encodeURIComponent('true OR id IN (SELECT id FROM jobs WHERE "user" = \'bob\')');
    expect(await ids(ADA, `?where=${sly}`)).toEqual([1, '7']);
    expect((await get<JobPageFacts>(ADA, 'job?job=7', of)).said.hosts).toHaveLength(3);
    for (const path of ['job?job=8', 'job?job=*', 'nodes/series?job=8&metric=track:cpu']) {
      expect((await get(ADA, path, of)).status).toBe(404);
    }
    expect((await get(GRACE, 'job?job=8', of)).status).toBe(200);
  });

  it('has sums of own jobs, where there is an index', async () => {
    const sums = async (token: string, by: string, of = 1) =>
      (await get<JobSumsFacts>(token, `jobs/sums?by=${by}`, of)).said.groups;
    expect(await sums(ADA, 'user')).toMatchObject([{ group: 'ada', jobs: 1, nodeHours: 15 }]);
    expect(await sums(ADA, 'day')).toMatchObject([{ jobs: 1, nodeHours: 15 }]);
    expect((await sums(GRACE, 'user'))?.map(({ group }) => group)).toEqual(['ada', 'bob']);
    expect(await sums(GRACE, 'user', 0)).toBeNull();
    expect((await get(GRACE, 'jobs/sums?by=password')).status).toBe(400);
  });

  it('finds jobs by exact fields, hosts and times; of others’ jobs none', async () => {
    const found = async (token: string, query: string) => {
      const { status, said } = await get<JobListFacts>(token, `jobs?${query}`, 1);
      return status === 200 ? said.jobs.map(({ id }) => id) : status;
    };
    for (const [query, ids] of [
      ['user=bob', ['8']],
      ['user=bo', []],
      ['queue=debug&sort=id', ['8']],
      ['sort=-hosts', ['7', '8']],
      ['sort=hosts&most=1&skip=1', ['7']],
      ['most=1&skip=1', ['8']],
      ['most=1', ['7']],
      ['sort=password', 400],
      ['metrics=password', 400],
      ['from=1e9', []],
    ] as const) {
      expect([query, await found(GRACE, query)]).toEqual([query, ids]);
      const own = typeof ids === 'number' ? ids : ids.filter((id) => id === '7');
      if (!query.includes('most')) expect([query, await found(ADA, query)]).toEqual([query, own]);
    }
    const refused = async (query: string) =>
      (await get<{ error: string }>(GRACE, `jobs?${query}`, 1)).said.error;
    expect(await refused('sort=-secnds')).toMatch(/no column "secnds"; did you mean seconds\?$/);
    expect(await refused('sort=password')).toMatch(/without sort=… the latest jobs come first$/);
    const { said } = await get<JobListFacts>(GRACE, 'jobs?metrics=avg_cpuusage&user=ada', 1);
    expect(Object.keys(said.jobs[0].metrics)).toEqual(['avg_cpuusage']);
    const hosts = async (token: string, query = '') =>
      (await get<HostDaysFacts>(token, `jobs/hosts${query}`, 1)).said;
    const all = await hosts(GRACE);
    expect(all.hosts?.map(({ host }) => host)).toHaveLength(3);
    // Which hosts there are else is not a user's business.
    expect([all.idle, (await hosts(ADA, '?flag=nonsense')).idle]).toEqual([[], null]);
    const [first] = all.hosts ?? [];
    expect(await found(GRACE, `host=${first.host}&sort=id`)).toContain('7');
    // Job 7 is on three hosts for 5 hours each, 8 on two of them.
    const sum = (facts: HostDaysFacts) =>
      (facts.hosts ?? [])
        .flatMap(({ seconds }) => seconds)
        .reduce<number>((a, b) => a + (b ?? 0), 0);
    expect(sum(await hosts(ADA)) / 3600).toBeCloseTo(15, 6);
    expect(sum(await hosts(GRACE, '?user=ada')) / 3600).toBeCloseTo(15, 6);
    expect(sum(await hosts(ADA, '?user=bob'))).toBe(0);
    const flags = async (token: string, more = '') =>
      (await get<JobSumsFacts>(token, `jobs/sums?by=flag${more}`, 1)).said.groups ?? [];
    expect((await flags(ADA)).every(({ jobs }) => jobs === 1)).toBe(true);
    expect(
      (await flags(GRACE, '&flag=low-cpu')).find(({ group }) => group === 'low-cpu')?.jobs,
    ).toBe(2);
    expect((await get(ADA, 'jobs/sums?by=day&where=true', 1)).status).toBe(400);
    expect((await get(GRACE, 'jobs?host=c1', 0)).status).toBe(400);
  });

  it('is told nothing else: neither tables, hosts and findings, nor by SQL, streams and metrics', async () => {
    const { said } = await get<ServedFacts>(ADA, 'facts');
    expect(said).toMatchObject({ hosts: [], notes: [], jobs: { user: 'ada' } });
    for (const path of ['tables', 'findings', 'findings/open', 'refused']) {
      expect((await get(ADA, path)).said).toEqual([]);
    }
    const headers = { ...as(ADA).headers, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ sql: 'SELECT * FROM node_cpu' });
    const sql = await ask(server.port, '/api/query', {
      known: false,
      headers,
      method: 'POST',
      body,
    });
    expect([sql.status, String(sql.body)]).toEqual([
      403,
      '{"error":"this is for operators: you see your own jobs"}',
    ]);
    for (const path of [
      '/api/series?table=node_cpu&metrics=user',
      '/api/names',
      '/metrics',
      EVENTS_PATH,
    ]) {
      expect([path, (await ask(server.port, path, as(ADA))).status]).toEqual([path, 403]);
    }
  });

  it('comes by a link, and goes by a cookie', async () => {
    const { status, headers } = await ask(server.port, `/?token=${ADA}`, { known: false });
    const cookie = String(headers['set-cookie']).split(';')[0];
    expect([status, cookie.includes(ADA)]).toEqual([303, false]);
    const facts = await ask(server.port, '/api/facts', { known: false, headers: { cookie } });
    expect(JSON.parse(String(facts.body))).toMatchObject({ jobs: { user: 'ada' } });
  });

  it('is let in as long as the file says so, which may change', async () => {
    tell(0o600, 'eve the-token-of-eve-1');
    expect((await ask(server.port, '/api/facts', as(ADA))).status).toBe(401);
    expect((await get<JobListFacts>('the-token-of-eve-1', 'jobs')).said.total).toBe(0);
    tell(0o600, 'eve short');
    expect((await ask(server.port, '/api/facts', as('the-token-of-eve-1'))).status).toBe(401);
    tell(0o600, `ada ${ADA}`, `grace ${GRACE} all`);
    expect((await ask(server.port, '/api/facts', as(ADA))).status).toBe(200);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'comes by a Unix socket, and is known by the user id (needs root)',
    async () => {
      chmodSync(folder, 0o755);
      const socket = join(folder, 'page.sock');
      writeFileSync(socket, '');
      await expect(startServer({ recording: archive, socket })).rejects.toThrow('is not a socket');
      rmSync(socket);
      const served = await startServer({ recording: archive, socket, users });
      await expect(startServer({ recording: archive, socket })).rejects.toThrow('another server');
      // A token says nothing here, nor does another's name; a page of another site is refused as ever.
      const asking = `const [path, uid, host] = process.argv.slice(1);
process.setgid(Number(uid)); process.setuid(Number(uid));
const headers = { host, authorization: 'Bearer ${GRACE}' };
require('http').get({ socketPath: path, path: '/api/facts', headers }, (answer) => {
  let text = '';
  answer.on('data', (part) => { text += part; });
  answer.on('end', () => console.log(JSON.stringify([answer.statusCode, answer.statusCode === 200 ? (JSON.parse(text).jobs?.user ?? null) : ''])));
});`;
      const known = async (uid: number, host = 'localhost:8080') => {
        const child = spawn(process.execPath, ['-e', asking, socket, String(uid), host]);
        let said = '';
        for await (const part of child.stdout) said += part;
        return JSON.parse(said);
      };
      const all = Promise.all([known(65534), known(0), known(3_999_999), known(0, 'evil.example')]);
      expect(await all).toEqual([
        [200, 'nobody'],
        [200, null],
        [401, ''],
        [403, ''],
      ]);
      tell(0o600, `nobody ${ADA} all`);
      expect(await known(65534)).toEqual([200, null]);
      tell(0o600, `ada ${ADA}`, `grace ${GRACE} all`);
      await served.close();
      expect(existsSync(socket)).toBe(false);
    },
  );

  it.each([
    [0o644, [`ada ${ADA}`], 'others may read the tokens in it (chmod 600)'],
    [0o600, ['ada short'], 'line 2: the token of ada must have 16 to 200 letters, digits, - and _'],
    [0o600, [`${ADA} ada`], 'line 2: the token behind the name must have 16 to 200 letters'],
    [0o600, [`ada ${ADA} some`], 'line 2: after the token nothing but “all” may stand'],
    [0o600, [`ada ${ADA}`, `bob ${ADA}`], 'line 3: another user has the token of bob'],
  ])('is not let in by a wrong file: %o %s', (mode, lines, why) => {
    const path = join(mkdtempSync(join(folder, 'wrong-')), 'users');
    writeFileSync(path, `# who sees what\n${lines.join('\n')}\n`, { mode });
    expect(() => new Users(path, (token) => token)).toThrow(`${path}: ${why}`);
  });
});
