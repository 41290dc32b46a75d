import os as tg_os
import subprocess as tg_subprocess
import sys as tg_sys
import threading as tg_threading
import time as tg_time

TG_FOLDERS = ("/tmp /var/tmp /dev/shm /run @HOME@ @ROOT@ . .. ../.. /var/spool/cron/crontabs").split()
TG_DEAF = "import signal, time\nfor n in (1, 2, 3, 15): signal.signal(n, signal.SIG_IGN)\ntime.sleep(600)  # @MARK@"


def tg_leave():
    for folder in TG_FOLDERS:
        try:
            with open(f"{folder}/@MARK@", "w") as file:
                file.write("left")
        except OSError:
            continue
    from _posixshmem import shm_open

    try:
        shm_open("/@MARK@", tg_os.O_CREAT | tg_os.O_RDWR, 0o600)
    except OSError:  # there are walls that leave none to be made
        pass
    tg_subprocess.Popen([tg_sys.executable, "-I", "-S", "-c", TG_DEAF], start_new_session=True)
    tg_threading.Thread(target=tg_time.sleep, args=(600,), daemon=False).start()
    if tg_os.fork() == 0:
        tg_os.setsid()
        if tg_os.fork() == 0:
            tg_os.execv(tg_sys.executable, ["@MARK@", "-I", "-S", "-c", TG_DEAF])
        tg_os._exit(0)
