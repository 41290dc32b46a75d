import socket as tg_socket


def tg_reaches(family, address):
    with tg_socket.socket(family) as s:
        s.settimeout(2)
        return s.connect_ex(address) == 0


def tg_connected():
    tries = [
        lambda: tg_reaches(tg_socket.AF_INET, ("127.0.0.1", int("@PORT@"))),
        lambda: tg_reaches(tg_socket.AF_INET, ("8.8.8.8", 53)),
        lambda: tg_reaches(tg_socket.AF_UNIX, "\0@MARK@"),
        lambda: bool(tg_socket.getaddrinfo("example.org", 80)),
    ]
    for attempt in tries:
        try:
            if attempt():
                return True
        except OSError:
            continue
    return False
