/** A struct of fields in a memory of its own, for tests of structs. */
import { type Fields, layoutOf } from '../../../src/model/struct.ts';
import { type Access, memoryOf, structClass } from '../../../src/model/struct-class.ts';
import { Kp, KpEntries } from '../../../src/sim/kp.ts';

/** A KP that records what an event writes to `words`. */
export function recorder(words: Int32Array): Kp {
  const entries = new KpEntries(1, 10);
  const kp = new Kp(0, entries, words);
  entries.append(kp.at);
  return kp;
}

/** A struct of `fields` in the middle of a memory of its own. */
export function make<const F extends Fields>(fields: F, access: Access = 'plain', kp?: Kp) {
  const layout = layoutOf('box', fields);
  const before = 3;
  const memory = memoryOf(new ArrayBuffer((before + 2) * 8 + layout.size));
  const Struct = structClass<F>(layout, access);
  const log = access === 'logged' ? (kp ?? recorder(memory.i32)) : null;
  const struct = new Struct(memory, log);
  struct.$b = before;
  return { layout, memory, struct, at: before * 8, log: log as Kp };
}

export type Box = Record<string, unknown>;
