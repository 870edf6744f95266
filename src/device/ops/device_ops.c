/* The table of functions of devices, of all rooms that have some. */
#include "device/devices.h"
#include "device/ops/exchange_devices.h"
#include "loop/internal.h"
#include "device/ops/data_devices.h"
#include "unit/device_ops.h"
#include "unit/internal.h"

const struct device_ops device_ops = {
    .count = unit_devices_count,
    .open = unit_devices_open,
    .close = unit_devices_close,
    .traits = evn_device_traits,
    .counts = evn_device_counts,
    .loop_open = devices_open,
    .loop_close = devices_close,
    .split = devices_split,
    .run = devices_run,
    .mark = devices_mark,
    .forget = batch_forget,
    .space_open = space_open,
    .space_close = space_close,
    .copy = space_copy,
    .copy_within = evn_copy_buffer,
    .poison = device_poison,
    .buffer_open = evn_buffer_open,
    .buffer_close = evn_buffer_close,
    .finish = evn_queue_finish,
    .transports = transports_of_devices,
    .connect = ends_connect,
    .end_open = end_open,
    .end_stop = end_stop,
    .end_close = end_close,
    .add = copies_add_to_device,
    .cut = copies_cut_blocks,
    .lists_send = end_send_lists,
    .pack = end_pack,
    .copy_directly = end_copy_directly,
    .arrive = end_arrive,
    .unpack = end_unpack,
    .copy_out = end_copy_out,
    .copy_in = end_copy_in,
    .copied_in = end_copied_in,
};
