/** `intel_ivb_r2pci`: ring to PCI Express of Ivy Bridge. */
import { ringToPci } from '../hardware/intel-uncore-units.ts';

export const INTEL_IVB_R2PCI = ringToPci('ivb', [0x0e34]);
