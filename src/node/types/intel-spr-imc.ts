/** `intel_spr_imc`: memory channels of Sapphire Rapids and Emerald Rapids: reads and writes of columns. Never run on hardware. */
import { intelMemoryBox } from '../hardware/intel-memory-box.ts';

export const INTEL_SPR_IMC = intelMemoryBox({
  name: 'intel_spr_imc',
  help: 'memory channels of Sapphire Rapids and Emerald Rapids',
  ids: [0x3251],
  controllers: 4,
  channels: 2,
  step: 0x8000,
  events: [0x40cf05n, 0x40f005n],
  control: [1n, 0n],
});
