/**
 * Units outside of the cores of Intel's Xeon E5, one type per unit and generation: caching agents (`cbo`), home agents (`hau`),
 * memory channels (`imc`), power control (`pcu`), QPI links (`qpi`), the ring to PCI Express (`r2pci`). Units that are PCI functions
 * are found by their device ids. To add a generation, add a row here.
 */
import {
  cachingAgent,
  homeAgent,
  link,
  memoryController,
  powerControl,
  ringToPci,
} from '../hardware/intel-uncore-units.ts';

/** A generation: the version of its registers, and PCI device ids. */
const GENERATIONS = [
  {
    is: 'snb',
    version: 'v1',
    hau: [0x3c46],
    imc: [0x3cb0, 0x3cb1, 0x3cb4, 0x3cb5],
    activations: 0x1400001n,
    qpi: [0x3c41, 0x3c42],
    r2pci: [0x3c43],
  },
  {
    is: 'ivb',
    version: 'v1',
    hau: [0x0e30, 0x0e38],
    imc: [0x0eb0, 0x0eb1, 0x0eb4, 0x0eb5],
    activations: 0x1400b01n,
    qpi: [0x0e32, 0x0e33, 0x0e3a],
    r2pci: [0x0e34],
  },
  {
    is: 'hsw',
    version: 'v2',
    hau: [0x2f30, 0x2f38],
    imc: [0x2fb0, 0x2fb1, 0x2fb4, 0x2fb5, 0x2fd0, 0x2fd1, 0x2fd4, 0x2fd5],
    activations: 0x1400b01n,
    qpi: [0x2f32, 0x2f33, 0x2f3a],
    r2pci: [0x2f34],
  },
  {
    is: 'bdw',
    version: 'v2',
    hau: [0x6f30, 0x6f38],
    imc: [0x6fb0, 0x6fb1, 0x6fb4, 0x6fb5, 0x6fd0, 0x6fd1, 0x6fd4, 0x6fd5],
    activations: 0x1400b01n,
    qpi: [0x6f32, 0x6f33, 0x6f3a],
    r2pci: [0x6f34],
  },
] as const;

export const INTEL_E5_UNITS = GENERATIONS.flatMap((one) => [
  cachingAgent(one.is, one.version),
  homeAgent(one.is, one.hau),
  memoryController(one.is, one.imc, one.activations),
  powerControl(one.is, one.version),
  link(one.is, one.qpi),
  ringToPci(one.is, one.r2pci),
]);
