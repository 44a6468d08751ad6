/** `intel_bdw_r2pci`: ring to PCI Express of Broadwell. */
import { ringToPci } from '../hardware/intel-uncore-units.ts';

export const INTEL_BDW_R2PCI = ringToPci('bdw', [0x6f34]);
