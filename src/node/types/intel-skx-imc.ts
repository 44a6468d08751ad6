/** `intel_skx_imc`: memory channels of Skylake: column reads and writes, activations, precharges. */
import { intelPciBox } from '../hardware/intel-pci-box.ts';

export const INTEL_SKX_IMC = intelPciBox({
  name: 'intel_skx_imc',
  help: 'memory channels of Skylake',
  ids: [0x2042, 0x2046, 0x204a],
  bits: 48,
  events: [0x400304n, 0x400c04n, 0x400b01n, 0x400102n],
});
