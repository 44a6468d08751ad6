/** `intel_icx_imc`: memory channels of Ice Lake servers: reads and writes of columns, activations. Never run on hardware. */
import { intelMemoryBox } from '../hardware/intel-memory-box.ts';

export const INTEL_ICX_IMC = intelMemoryBox({
  name: 'intel_icx_imc',
  help: 'memory channels of Ice Lake servers',
  ids: [0x3451],
  controllers: 4,
  channels: 2,
  step: 0x4000,
  events: [0x400f04n, 0x403004n, 0x400b01n],
});
