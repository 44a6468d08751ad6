/** A route of the API: its handler together with its documentation, so that neither exists without the other. */
import type { Context } from 'hono';
import type { Refused } from '../../view/facts/served.ts';
import type { RouteLimits } from '../net/limits.ts';
import type { Shown } from '../shown.ts';

/** An answer other than a success. The message is one line for the user. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: 400 | 403 | 404 | 409 | 410 | 413 | 415 | 422 | 503;

  constructor(status: ApiError['status'], message: string) {
    super(message);
    this.status = status;
  }
}

/** Part of a JSON schema, as OpenAPI has it. */
interface JsonType {
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array';
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
  readonly items?: JsonType;
  readonly properties?: Readonly<Record<string, JsonType>>;
  readonly required?: readonly string[];
  readonly description?: string;
}

export interface Parameter {
  readonly name: string;
  readonly help: string;
  readonly schema: JsonType;
  readonly required?: true;
}

export interface ApiContext {
  /** The recording that `?recording=` names, else the first. @throws ApiError */
  shown(c: Context): Promise<Shown>;
  /** All recordings, in the order of the command line. */
  all(c: Context): Promise<readonly Shown[]>;
  /** The user whose jobs alone the caller may see; null: everything. */
  readonly user: string | null;
  /** Those of the given paths that cannot be shown. */
  readonly refused: readonly Refused[];
  /** Limits of the route; those of time and concurrency are enforced elsewhere. */
  readonly limits: RouteLimits;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
}

export interface Route {
  readonly method: 'get' | 'post';
  /** Also answers users who may see only their own jobs. */
  readonly forUsers?: true;
  /** Below /api, such as `/series`. */
  readonly path: string;
  readonly summary: string;
  /** Parameters of the query string, besides `recording`, which all routes take. */
  readonly parameters?: readonly Parameter[];
  /** Of a POST: what its JSON object holds. */
  readonly body?: JsonType;
  /** What a 200 holds. */
  readonly gives: string;
  /** Content types of a 200; JSON by default. */
  readonly types?: readonly string[];
  /** @throws ApiError; errors of queries are answered with 400 */
  readonly answer: (c: Context, context: ApiContext) => Promise<Response> | Response;
}

/** Bytes of a bin: least, most and mean; as text about. */
export const CELL_BYTES = 12;
export const CELL_TEXT_BYTES = 48;

/** @throws ApiError where an answer would take more memory than the route may */
export function fits(cells: number, cell: number, { memory }: RouteLimits): void {
  const most = Math.floor(memory / cell);
  if (cells > most) {
    throw new ApiError(
      413,
      `${cells} bins of all entities are more than ${most}: ask for fewer bins=…, or some entities=…`,
    );
  }
}

/** An integer parameter of the query string. @throws ApiError */
export function integerOf(
  c: Context,
  name: string,
  fallback: number,
  least: number,
  most: number,
): number {
  const text = c.req.query(name);
  const value = text === undefined ? fallback : Number(text);
  if (text === '' || !Number.isInteger(value) || value < least || value > most) {
    throw new ApiError(400, `${name}=… must be an integer of ${least} to ${most}`);
  }
  return value;
}

/** `from` and `to`, in seconds. @throws ApiError */
export function windowOf(c: Context, span: { readonly from: number; readonly to: number }) {
  const from = Number(c.req.query('from') ?? span.from);
  const to = Number(c.req.query('to') ?? span.to);
  if (!(Number.isFinite(from) && Number.isFinite(to) && from < to)) {
    throw new ApiError(400, 'from=… and to=… must be seconds, from before to');
  }
  return { from, to };
}

/** A comma-separated list; undefined where the parameter is not there. */
export function listOf(c: Context, name: string): readonly string[] | undefined {
  return c.req.query(name)?.split(',').filter(Boolean);
}

/** Bytes as the body of an answer. */
export function bytesAnswer(c: Context, bytes: Uint8Array<ArrayBuffer>): Response {
  return c.body(bytes, 200, { 'Content-Type': BYTES });
}

export const BYTES = 'application/octet-stream';

export const wantsBytes = (c: Context): boolean => (c.req.header('accept') ?? '').includes(BYTES);

export const WINDOW: readonly Parameter[] = [
  { name: 'from', help: 'seconds since the recording’s zero', schema: { type: 'number' } },
  { name: 'to', help: 'seconds; after `from`', schema: { type: 'number' } },
];
