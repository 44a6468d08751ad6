/** `intel_hsw_r2pci`: ring to PCI Express of Haswell. */
import { ringToPci } from '../hardware/intel-uncore-units.ts';

export const INTEL_HSW_R2PCI = ringToPci('hsw', [0x2f34]);
