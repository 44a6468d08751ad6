/** Walks over traced events of v7.0.0 and later. */
import { type Block, EVENT, FULL } from './chunk.ts';
import { EVENT_KINDS, type RossFileLayout } from './layouts.ts';
import { MOST_PAYLOAD } from './walk-framed.ts';

const HEAD = 24;
const FLOAT_MAX = 3.5e38;

function walk(block: Block, from: number): number {
  const { chunk, capacity } = block;
  const { view, little, length } = chunk;
  let at = from;
  block.stop = FULL;
  while (block.length < capacity) {
    if (length - at < HEAD) {
      block.short(HEAD);
      break;
    }
    const send = view.getFloat32(at + 8, little);
    const receive = view.getFloat32(at + 12, little);
    const real = view.getFloat32(at + 16, little);
    if (!(send >= 0 && send <= receive && receive < FLOAT_MAX)) {
      block.bad(`expected an event: sent at ${send} and received at ${receive} is not possible`);
      break;
    }
    if (!(real >= 0 && real < FLOAT_MAX)) {
      block.bad(`expected an event: real time ${real} is no time`);
      break;
    }
    const size = view.getUint32(at + 20, little);
    if (size > length - at - HEAD) {
      if (size > MOST_PAYLOAD || size > chunk.left(at) - HEAD) {
        block.bad(
          `expected an event: ${size} bytes of the model are said to follow; ${chunk.left(at) - HEAD} are left`,
        );
      } else block.short(HEAD + size);
      break;
    }
    block.add(EVENT, at, size);
    at += HEAD + size;
  }
  return at;
}

export function eventLayout(little: boolean): RossFileLayout {
  return {
    era: 'ROSS v7.0 or later, event trace',
    little,
    kinds: EVENT_KINDS,
    walk,
    reset: () => {},
    mostEntries: 1,
    least: HEAD,
    mode: null,
  };
}
