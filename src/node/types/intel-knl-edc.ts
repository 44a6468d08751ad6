/** `intel_knl_edc`: the controllers of Knights Landing's memory in the package (MCDRAM). */
import { KNL_LAYOUTS, knlBox, knlEvent } from '../hardware/knl-box.ts';

const eight = (first: number) => Array.from({ length: 8 }, (_, k) => first + k);

export const INTEL_KNL_EDC = knlBox({
  name: 'intel_knl_edc',
  help: 'controllers of the memory in the package of Knights Landing',
  boxes: [
    // As a cache: hits of clean and of dirty lines, misses of both.
    {
      layout: KNL_LAYOUTS.uclk,
      devices: eight(0x0f),
      functions: [0],
      events: [0x01, 0x02, 0x04, 0x08].map((umask) => knlEvent(0x02, umask)),
    },
    // Read requests, write requests, clocks.
    {
      layout: KNL_LAYOUTS.eclk,
      devices: eight(0x18),
      functions: [2],
      events: [knlEvent(0x01, 0x01), knlEvent(0x02, 0x01), knlEvent(0, 0)],
    },
  ],
});
