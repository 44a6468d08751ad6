/** Requests as they are: fetch would mend paths and forbid headers. */
import { type IncomingHttpHeaders, request } from 'node:http';
import { BEARER } from './token.ts';

export { until } from '../../support/until.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Asking {
  readonly headers?: Readonly<Record<string, string>>;
  readonly host?: string;
  readonly method?: string;
  readonly body?: string | Buffer;
  /** Whether the token is sent. */
  readonly known?: boolean;
}

export function ask(port: number, path: string, asking: Asking = {}): Promise<Answer> {
  const { headers = {}, host = '127.0.0.1', method = 'GET', body, known = true } = asking;
  return new Promise((resolve, reject) => {
    const all = known ? { ...BEARER, ...headers } : headers;
    const asked = request({ host, port, path, headers: all, method }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(parts),
        }),
      );
    });
    asked.on('error', (error) => {
      // The server closes a connection on which nothing came for 10 s: who was busy that long may still take it.
      if (asked.reusedSocket) resolve(ask(port, path, asking));
      else reject(error);
    });
    asked.end(body);
  });
}

export async function json<T = never>(port: number, path: string): Promise<T> {
  const { status, body } = await ask(port, path);
  if (status !== 200) throw new Error(`${path}: ${status}: ${body}`);
  return JSON.parse(String(body)) as T;
}

/** POSTs a query. `of`: `?recording=…`, for another than the first. */
export async function query(port: number, what: unknown, of = '') {
  const body = JSON.stringify(what);
  const headers = { 'Content-Type': 'application/json' };
  const answer = await ask(port, `/api/query${of}`, { method: 'POST', headers, body });
  return { status: answer.status, ...JSON.parse(String(answer.body)) };
}

/** Status and line of an answer that is an error. */
export async function refusal(port: number, path: string) {
  const { status, body } = await ask(port, path);
  return { status, error: (JSON.parse(String(body)) as { error?: string }).error ?? '' };
}
