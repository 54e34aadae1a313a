/** Heights of the waveform's parts in pixels. */
export const SIDE_HEIGHT = 56;
export const AXIS_HEIGHT = 20;
