/** `intel_knl_mc`: the controllers of Knights Landing's memory outside the package. */
import { KNL_LAYOUTS, knlBox, knlEvent } from '../hardware/knl-box.ts';

export const INTEL_KNL_MC = knlBox({
  name: 'intel_knl_mc',
  help: 'controllers of the memory of Knights Landing',
  boxes: [
    // Clocks.
    { layout: KNL_LAYOUTS.uclk, devices: [0x0a, 0x0b], functions: [0], events: [knlEvent(0, 0)] },
    // Column reads and writes, clocks.
    {
      layout: KNL_LAYOUTS.dclk,
      devices: [0x08, 0x09],
      functions: [2, 3, 4],
      events: [knlEvent(0x03, 0x01), knlEvent(0x03, 0x02), knlEvent(0, 0)],
    },
  ],
});
