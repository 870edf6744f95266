/* The parts of the command. */
#pragma once

#include "common/cli/message.h"

int command_info(int argc, char **argv);
int command_run(int argc, char **argv);
int command_plan(int argc, char **argv);
int command_model(int argc, char **argv);
int command_bench(int argc, char **argv);
int command_calibrate(int argc, char **argv);
int command_report(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_watch(int argc, char **argv);
