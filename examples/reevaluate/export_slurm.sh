#!/bin/sh
# The jobs of the last days from Slurm into the inbox: run it each night before the re-evaluation, as any user that sees all jobs.
# usage: export_slurm.sh INBOX [DAYS]
#
# sacct tells every job that was there between -S and -E: one that runs for a week is in each of seven exports as not ended yet, and is
# taken from the one that has its end. The days overlap so that a night that fails, or a database that lags, loses nothing; what
# several exports tell is merged. The file is written under a name that begins with a dot, which the inbox passes over.
set -eu
inbox=$1 days=${2:-4}
name=sacct-$(date -u +%Y-%m-%d).txt
trap 'rm -f "$inbox/.$name"' EXIT
TZ=UTC sacct --allusers --duplicates --parsable2 --starttime "now-${days}days" --endtime now --format=JobID,User,Group,Account,\
Partition,QOS,Cluster,State,Submit,Eligible,Start,End,ElapsedRaw,Suspended,TimelimitRaw,NNodes,ReqCPUS,NCPUS,AllocTRES,ReqTRES,\
ReqMem,MaxRSS,TotalCPU,ConsumedEnergyRaw,ExitCode,NodeList,JobName > "$inbox/.$name"
mv "$inbox/.$name" "$inbox/$name"
