/** `<prefix>-README.txt`: what the files of 2016 and 2017 cannot be read without. */

export interface ReadmeFacts {
  /** 0: PEs only; 1: KPs and LPs too. */
  readonly granularity: number;
  readonly pes: number;
  /** KPs of each PE. */
  readonly kps: number;
  /** LPs of each PE. */
  readonly lps: readonly number[];
  /** Value of `--event-trace`, 0 to 3; null where it is not said. */
  readonly eventTrace: number | null;
  /** Of ours only: the layout of the files beside it. */
  readonly layout: string | null;
}

const MOST = 2 ** 22;

const integer = (text: string | undefined): number | null =>
  text !== undefined && /^\d{1,9}$/.test(text.trim()) ? Number(text) : null;

/** ROSS's number, or the word that stands for it here: `all` events, or only some of them. */
function traceMode(word: string | undefined): number | null {
  if (word === undefined) return null;
  if (/^\d+$/.test(word)) return Number(word);
  const modes: Readonly<Record<string, number>> = { none: 0, off: 0, '-': 0, all: 1, full: 1 };
  return modes[word] ?? 2;
}

/** Reads the head of the text, and `--event-trace`. Null for a text that is no such file. */
export function readReadme(text: string): ReadmeFacts | null {
  const end = text.search(/^END\s*$/m);
  if (end < 0) return null;
  const values = new Map<string, string>();
  for (const line of text.slice(0, end).split('\n')) {
    const sign = line.indexOf('=');
    if (sign > 0) values.set(line.slice(0, sign).trim(), line.slice(sign + 1).trim());
  }
  const pes = integer(values.get('NUM_PE'));
  const kps = integer(values.get('NUM_KP'));
  const granularity = integer(values.get('GRANULARITY'));
  const lps = (values.get('LP_PER_PE') ?? '').split(',').filter((part) => part !== '');
  const counts = lps.map((part) => integer(part) ?? -1);
  if (pes === null || kps === null || granularity === null) return null;
  if (pes < 1 || pes > MOST || kps > MOST) return null;
  if (counts.length !== pes || counts.some((count) => count < 0 || count > MOST)) return null;
  const trace = /^[ \t]*--event-trace[ \t]*\n?[ \t]+([\w-]+)/m.exec(text.slice(end));
  return {
    granularity,
    pes,
    kps,
    lps: counts,
    eventTrace: traceMode(trace?.[1]),
    layout: values.get('LAYOUT') ?? null,
  };
}
