/**
 * `intel_gnr_imc`: memory channels of Granite Rapids: reads and writes of columns, of both halves of each channel. Never run on
 * hardware. Source: Linux, arch/x86/events/intel/uncore_snbep.c (`gnr_uncore_imc`) and uncore_discovery.c.
 */
import { discovered } from '../hardware/intel-discovery.ts';
import { memoryChannels } from '../hardware/intel-memory-box.ts';
import { modelName } from '../hardware/processor.ts';
import { UnavailableError } from '../tree.ts';

const MODELS = [0xad, 0xae];
/** The name of memory channels in discovery tables. */
const CHANNEL = 6;

export const INTEL_GNR_IMC = memoryChannels({
  name: 'intel_gnr_imc',
  help: 'memory channels of Granite Rapids',
  device: 'bus/channel',
  events: [0x40cf05n, 0x40cf06n, 0x40f005n, 0x40f006n],
  control: [1n, 0n],
  channels: (hardware) => {
    const { vendor, family, model } = hardware.processor;
    if (vendor !== 'intel' || family !== 6 || !MODELS.includes(model)) {
      throw new UnavailableError(`for Granite Rapids; this is ${modelName(hardware.processor)}`);
    }
    return discovered(hardware, CHANNEL).map(({ bus, id, at }) => ({ device: `${bus}/${id}`, at }));
  },
});
