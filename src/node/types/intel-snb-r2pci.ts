/** `intel_snb_r2pci`: ring to PCI Express of Sandy Bridge. */
import { ringToPci } from '../hardware/intel-uncore-units.ts';

export const INTEL_SNB_R2PCI = ringToPci('snb', [0x3c43]);
